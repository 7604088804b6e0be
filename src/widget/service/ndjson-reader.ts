import type { Line } from "../../../machines/line.ts";

/**
 * The lines of a stream, as they come. Ends where the body ends; a body that breaks off rejects.
 * Lines of types that this element does not know are passed over: a newer service may say more.
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
    // Also when the reader of these lines stops early: the answer need not be sent to its end.
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
