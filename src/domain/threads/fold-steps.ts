import type { ProgressLine } from "../../protocol/lines.ts";
import type { KeptStep } from "./message.ts";

/** The latest step of each id, in the order of first appearance: a later step replaces an earlier one (the spec, Stream). */
export function foldSteps(lines: readonly ProgressLine[]): KeptStep[] {
  const steps = new Map<string, KeptStep>();
  for (const line of lines) {
    if (line.type !== "step") continue;
    const { type: _, ...step } = line;
    steps.set(line.id, step);
  }
  return [...steps.values()];
}

/** All text of the lines, joined. */
export function textOf(lines: readonly ProgressLine[]): string {
  // Concatenation: a long text in a single line is not copied.
  return lines.reduce((text, line) => (line.type === "delta" ? text + line.text : text), "");
}
