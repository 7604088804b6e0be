import type { Line } from "../../../machines/line.ts";
import { isLine } from "./is-line.ts";

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
