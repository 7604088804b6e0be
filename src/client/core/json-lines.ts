/** The part of a body's reader that is needed to read its lines. */
export type BytesReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/**
 * Each line of an answer as it comes, parsed; blank ones are skipped. Ends where the body ends, rejects where it breaks
 * off. What has no line end behind it was cut off, and is dropped.
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
