import type { Line } from "../../../machines/line.ts";

/**
 * Yields the lines of a stream as they arrive. Ends where the body ends; rejects where the body breaks off. Skips lines
 * of unknown types, which a newer service may send.
 */
export async function* readLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Line> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const texts = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (texts.pop() ?? "");
      for (const text of texts) {
        if (text.trim() === "") continue;
        const line: unknown = JSON.parse(text);
        if (isLine(line)) yield line;
      }
      if (done) return;
    }
  } finally {
    // A caller that stops early does not need the rest of the body.
    void reader.cancel().catch(() => {});
  }
}

function isLine(value: unknown): value is Line {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  const line = value as Partial<Record<string, unknown>>;
  switch (line["type"]) {
    case "delta":
      return typeof line["text"] === "string";
    case "step":
      return typeof line["id"] === "string" && typeof line["phase"] === "string";
    case "tool_call":
      return typeof line["tool"] === "string" && typeof line["callId"] === "string";
    case "done":
    case "error":
      return true;
    default:
      return false;
  }
}
