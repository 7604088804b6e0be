import { cutText } from "../../../machines/line.ts";
import type { OddTool } from "./read-tool.ts";

/** A server may have a thousand odd tools. */
export const MOST_TOLD = 10;
const NAME_CHARS = 64;

/** What is wrong with a server's tools, in one sentence for the operator; null: nothing. Names are quoted: strangers made them. */
export function odditiesOf(odd: readonly OddTool[]): string | null {
  if (odd.length === 0) return null;
  const told = odd.slice(0, MOST_TOLD).map(({ name, reasons, isLeftOut }) => {
    const tool =
      name === null ? "a tool without a name" : `tool ${JSON.stringify(cutText(name, NAME_CHARS))}`;
    return `${tool} is ${isLeftOut ? "left out" : "mended"} (${reasons.join("; ")})`;
  });
  const more = odd.length > MOST_TOLD ? [`and ${odd.length - MOST_TOLD} more`] : [];
  return [...told, ...more].join(", ");
}
