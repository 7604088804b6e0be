import type { Line } from "../../protocol/lines.ts";
import { readJsonLines } from "../../client/core/json-lines.ts";
import { isLine } from "../../protocol/fits.ts";

/**
 * Yields the lines of a stream as they arrive. Ends when the body ends; rejects when it breaks off. Skips lines of
 * unknown types, which a newer service may send.
 */
export async function* readLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Line> {
  for await (const line of readJsonLines(body.getReader())) {
    if (isLine(line)) yield line;
  }
}
