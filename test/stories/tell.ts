import type { Line } from "../../machines/line.ts";
import type { Answer } from "../scenarios/page.ts";

/** An answer as a story tells it: the lines of a stream, the items of a history or a list, else the status. */
export function toldOf(answer: Answer): string[] {
  if (answer.status >= 400) return [String(answer.status)];
  if (answer.lines.length > 0) return joined(answer.lines).map(toldLine);
  const body: unknown = answer.text === "" ? null : JSON.parse(answer.text);
  if (isRecord(body) && Array.isArray(body["items"])) {
    return body["items"].filter(isRecord).map(toldItem);
  }
  return answer.status === 204 || answer.status === 200 || answer.status === 201
    ? []
    : [String(answer.status)];
}

function toldLine(line: Line): string {
  switch (line.type) {
    case "delta":
      return `text ${JSON.stringify(line.text)}`;
    case "step":
      return `step ${line.id} ${line.phase} ${JSON.stringify(line.text)}`;
    case "tool_call":
      return `tool_call ${line.tool} ${JSON.stringify(line.arguments)}`;
    case "done":
      return line.handledBy === undefined ? "done" : `done, handled by ${line.handledBy}`;
    case "error":
      return ["error", line.code, line.message].filter((word) => word !== undefined).join(" ");
  }
}

/** Where a text is cut into deltas is of no meaning. */
function joined(lines: readonly Line[]): Line[] {
  const whole: Line[] = [];
  for (const line of lines) {
    const last = whole.at(-1);
    if (line.type === "delta" && last?.type === "delta")
      whole[whole.length - 1] = { ...last, text: last.text + line.text };
    else whole.push(line);
  }
  return whole;
}

/** A message of a history, or a conversation of a list. */
function toldItem(item: Record<string, unknown>): string {
  if (typeof item["role"] !== "string") return `conversation, ${String(item["state"])}`;
  const { author, error, steps } = item;
  const who = isRecord(author) ? String(author["name"]) : item["role"];
  const failed = isRecord(error) ? ` (${typeof error["code"] === "string" ? error["code"] : "failed"})` : "";
  const done = Array.isArray(steps)
    ? steps.filter(isRecord).map(({ id, phase }) => `${String(id)} ${String(phase)}`)
    : [];
  const used = done.length > 0 ? ` [${done.join(", ")}]` : "";
  return `${who}${failed}${used}: ${JSON.stringify(item["content"])}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
