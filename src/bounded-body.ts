/** Somebody else's answer is longer than is read of any. */
export class AnswerTooLong extends Error {
  constructor(mostBytes: number) {
    super(`The answer is longer than ${mostBytes} bytes, and is not read to its end`);
    this.name = "AnswerTooLong";
  }
}

export interface Bounds {
  /** Of the body, as it is after decompression; of each event where it is a stream of events. */
  mostBytes: number;
  /** True: server-sent events. Each is passed on as a whole, so that a parser meets none in a thousand pieces. */
  isEvents?: boolean;
  /** Each event, before it is passed on. */
  onEvent?: (event: Uint8Array) => void;
  /** The body is over, or failed with this error. Not called where the reader cancels it. */
  onEnd?: (error: Error | null) => void;
}

/**
 * The body of an answer, which fails with AnswerTooLong as soon as it is longer than the bounds, and is read no further.
 * Without this, whoever answers decides how much memory this process uses, and how long its event loop stands.
 */
export function boundedBody(body: ReadableStream<Uint8Array>, bounds: Bounds): ReadableStream<Uint8Array> {
  const { mostBytes, isEvents = false, onEvent = () => {}, onEnd = () => {} } = bounds;
  const reader = body.getReader();
  const pieces = isEvents ? eventsOf(mostBytes) : piecesOf(mostBytes);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read();
            const whole = done ? pieces.rest() : pieces.add(value);
            for (const one of whole) {
              if (isEvents) onEvent(one);
              controller.enqueue(one);
            }
            if (done) {
              controller.close();
              return onEnd(null);
            }
            if (whole.length > 0) return;
          }
        } catch (error) {
          const reason = error instanceof Error ? error : new Error(String(error));
          controller.error(reason);
          onEnd(reason);
          await reader.cancel(reason).catch(() => {});
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

interface Pieces {
  /** What can be passed on now. Throws AnswerTooLong. */
  add(piece: Uint8Array): Uint8Array[];
  rest(): Uint8Array[];
}

function piecesOf(mostBytes: number): Pieces {
  let bytes = 0;
  return {
    add(piece) {
      bytes += piece.length;
      if (bytes > mostBytes) throw new AnswerTooLong(mostBytes);
      return [piece];
    },
    rest: () => [],
  };
}

const LF = 10;
const CR = 13;

/** Events end at an empty line; lines end with LF, CR or both (HTML, Server-sent events, Parsing an event stream). */
function eventsOf(mostBytes: number): Pieces {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let isLineEmpty = true;
  let last = 0;

  const take = () => {
    const whole = held.length === 1 ? held : [Buffer.concat(held)];
    held = [];
    heldBytes = 0;
    return whole;
  };
  const hold = (piece: Uint8Array) => {
    if (piece.length === 0) return;
    heldBytes += piece.length;
    if (heldBytes > mostBytes) throw new AnswerTooLong(mostBytes);
    held.push(piece);
  };

  return {
    add(piece) {
      const whole: Uint8Array[] = [];
      let from = 0;
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at] ?? 0;
        if (byte === LF && last === CR) {
          // The second half of a line's end.
        } else if (byte === LF || byte === CR) {
          if (isLineEmpty) {
            hold(piece.subarray(from, at + 1));
            from = at + 1;
            whole.push(...take());
          }
          isLineEmpty = true;
        } else {
          isLineEmpty = false;
        }
        last = byte;
      }
      hold(piece.subarray(from));
      return whole;
    },
    rest: () => (heldBytes === 0 ? [] : take()),
  };
}

/** The first bytes of an answer, as text; the rest is not read. Empty where the body fails. */
export async function beginningOf(
  body: ReadableStream<Uint8Array> | null,
  mostBytes: number,
): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (bytes < mostBytes) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      bytes += value.length;
    }
  } catch {
    return "";
  } finally {
    void reader.cancel().catch(() => {});
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, mostBytes));
}
