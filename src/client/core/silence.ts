import type { BytesReader } from "./json-lines.ts";

/** The service writes something every 15 seconds: a connection that is silent three times as long is dead. */
export const SILENCE_MS = 45_000;

/** The same reader, but a read rejects after SILENCE_MS. */
export function endedBySilence(reader: BytesReader): BytesReader {
  return {
    cancel: () => reader.cancel(),
    async read() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("The connection is dead")), SILENCE_MS);
      });
      return await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
    },
  };
}
