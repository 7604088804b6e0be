import { cutText } from "../../../machines/line.ts";
import type { PlainLog } from "../../log.ts";
import type { Offer } from "./tools.ts";

/** Of tools in one sentence. */
const MOST_NAMES = 10;
const NAME_CHARS = 64;

/** Tools that a channel has and its model is not offered, because they are too many or too long. */
export interface LeftOutTools {
  /** Of a turn. Logged once for each channel, and again when they are others. */
  note(slug: string, leftOut: readonly Offer[]): void;
  /** One sentence for each channel whose last turn had such. */
  warnings(): string[];
}

export function createLeftOutTools(log: Pick<PlainLog, "warn">): LeftOutTools {
  const told = new Map<string, string>();
  return {
    note(slug, leftOut) {
      // A page's tools are as the visitor's page has them, and its catalog was answered with what fits.
      const tools = leftOut.filter(({ kind }) => kind === "server");
      if (tools.length === 0) return void told.delete(slug);
      const text = sentenceOf(slug, tools);
      if (told.get(slug) === text) return;
      told.set(slug, text);
      log.warn({ slug, tools: tools.length }, text);
    },
    warnings: () => [...told.values()],
  };
}

function sentenceOf(slug: string, tools: readonly Offer[]): string {
  const names = tools
    .slice(0, MOST_NAMES)
    .map(({ server, tool }) => JSON.stringify(cutText(`${server}/${tool}`, NAME_CHARS)));
  const more = tools.length > MOST_NAMES ? ` and ${tools.length - MOST_NAMES} more` : "";
  return `The model of channel ${slug} is not offered ${names.join(", ")}${more}: its tools are too many or too long together. Choose some by tools.allow of their servers, or raise AGENT_MAX_INPUT_TOKENS`;
}
