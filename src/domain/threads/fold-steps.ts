import type { ProgressLine, Step } from "../../protocol/lines.ts";

/** The latest step of each id, in the order of first appearance: a later step replaces an earlier one (the spec, Stream). */
export function foldSteps(lines: readonly ProgressLine[]): Step[] {
  const steps = new Map<string, Step>();
  for (const line of lines) {
    if (line.type === "step") steps.set(line.id, { id: line.id, phase: line.phase, text: line.text });
  }
  return [...steps.values()];
}

/** All text of the lines, joined. */
export function textOf(lines: readonly ProgressLine[]): string {
  // Concatenation: a long text in a single line is not copied.
  return lines.reduce((text, line) => (line.type === "delta" ? text + line.text : text), "");
}
