/** The part of a body's reader that is needed to read its lines. */
export type BytesReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/**
 * Each line of an answer as it arrives, parsed; blank lines are skipped. Ends with the body, rejects if the body breaks
 * off. Text without a line end after it was cut off, and is dropped.
 */
export async function* readJsonLines(reader: BytesReader): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const texts = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = texts.pop() ?? "";
      for (const text of texts) if (text.trim()) yield JSON.parse(text);
    }
  } finally {
    // A caller that stops early does not need the rest of the body.
    void reader.cancel().catch(() => {});
  }
}
