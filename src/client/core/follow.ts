import { readJsonLines } from "./json-lines.ts";
import { endedBySilence } from "./silence.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** What to follow, and what to do between two connections. */
export interface Followed {
  /** Opens the next connection. Rejects where it fails; null: there is nothing to follow. */
  open(this: void): Promise<Body | null>;
  /** Waits until it is time for the next connection; rejects where there is to be none. */
  comeBack(this: void, fault: unknown): Promise<void>;
}

/** The fault of a connection that the service ended while the run goes on. Pure: nothing is left of it where it is not used. */
export const INTERRUPTED = /* @__PURE__ */ new Error("Interrupted");

/**
 * The lines of a stream or a feed, over as many connections as it takes: each is opened when the last one has ended, broken
 * off or fallen silent, and a stream is told from its beginning again. Whoever reads knows which line is the last. Rejects
 * as `comeBack` does.
 */
export async function* follow({ open, comeBack }: Followed): AsyncGenerator<unknown> {
  for (;;) {
    let fault: unknown = new Error("The connection ended");
    try {
      const body = await open();
      if (body === null) return;
      for await (const line of linesOf(body)) {
        yield line;
        if (isInterrupted(line)) {
          fault = INTERRUPTED;
          break;
        }
      }
    } catch (error) {
      fault = error;
    }
    await comeBack(fault);
  }
}

/** The lines of one connection. Ends or rejects when it does; rejects where it is silent for too long. */
export function linesOf(body: Body): AsyncGenerator<unknown> {
  return readJsonLines(endedBySilence(body.getReader()));
}

/** This connection is over, and the run goes on: its stream is to be read again. */
export function isInterrupted(line: unknown): boolean {
  // A cast: any value may be asked for a field.
  return (Object(line) as { code?: unknown }).code === "interrupted";
}
