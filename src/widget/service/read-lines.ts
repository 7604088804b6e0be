import type { Line } from "../../../machines/line.ts";
import { isLine } from "./is-line.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * Yields the lines of a stream as they arrive. Ends where the body ends; rejects where the body breaks off. Skips lines
 * of unknown types, which a newer service may send.
 */
export async function* readLines(body: Body): AsyncGenerator<Line> {
  for await (const line of readJsonLines(body)) {
    if (isLine(line)) yield line;
  }
}

/** The same for lines of any kind. */
export async function* readJsonLines(body: Body): AsyncGenerator<unknown> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const texts = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (texts.pop() ?? "");
      for (const text of texts) {
        if (text.trim() !== "") yield JSON.parse(text);
      }
      if (done) return;
    }
  } finally {
    // A caller that stops early does not need the rest of the body.
    void reader.cancel().catch(() => {});
  }
}
