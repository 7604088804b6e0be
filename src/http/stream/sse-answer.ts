import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import type { Reply } from "../../threads/hold/reply.ts";
import type { HttpAnswer, HttpRequest, Outlet } from "../../listener.ts";
import { acceptsGzip } from "./accepts-gzip.ts";
import { gzipOutlet, mayCompress } from "./gzip.ts";
import { heartbeat } from "./heartbeat.ts";
import { writePulled } from "./pull.ts";
import { RUN_ID_HEADER } from "./stream-answer.ts";

/** Translates a reply into a front end's protocol. Used for one stream. */
export interface Translation {
  headers: Record<string, string>;
  /** The events before the first line. */
  opening: readonly object[];
  /** The events for a line. */
  eventsOf: (line: Line) => readonly object[];
  /** The stream ends with this line, although the run goes on: the front end answers by a request of its own. Absent: with none. */
  endsWith?: (line: Line) => boolean;
  /** The text after the last event, as it is sent. */
  closing: string;
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
  vary: "accept-encoding",
};

/** A comment: every reader ignores it, and it keeps proxies from closing the stream. */
const COMMENT = ":\n\n";

/**
 * A reply as server-sent events, as they happen. If the run moves to another process, the connection breaks off: a
 * clean end would look like the end of the reply. `history`: text to send between the opening and the reply, already
 * encoded.
 */
export function sseAnswer(
  reply: Reply,
  request: HttpRequest,
  translation: Translation,
  history?: AsyncGenerator<string>,
): HttpAnswer {
  const headers = { ...translation.headers, [RUN_ID_HEADER]: reply.runId };
  return answerWith(headers, request, (outlet) => {
    if (reply.pieces) writePulled(outlet, encodedPieces(reply.pieces(), translation, history));
    else writeLive(outlet, reply, translation, history);
  });
}

/** Server-sent events that are all known already, as fast as their reader takes them. */
export function sseWhole(pieces: AsyncGenerator<string>, request: HttpRequest): HttpAnswer {
  return answerWith({}, request, (outlet) => writePulled(outlet, pieces));
}

function answerWith(
  own: Record<string, string>,
  request: HttpRequest,
  write: (outlet: Outlet) => void,
): HttpAnswer {
  const headers = { ...HEADERS, ...own };
  const compresses = acceptsGzip(request.headers.get("accept-encoding")) && mayCompress();
  return {
    status: 200,
    headers: compresses ? { ...headers, "content-encoding": "gzip" } : headers,
    stream: (socket) => write(compresses ? gzipOutlet(socket) : socket),
  };
}

function writeLive(
  outlet: Outlet,
  reply: Reply,
  translation: Translation,
  history?: AsyncGenerator<string>,
): void {
  let stopBeating = () => {};
  outlet.onGone(() => {
    stopBeating();
    reply.leave();
  });
  outlet.write(encoded(translation.opening));

  function tell(): void {
    // Starts only now: a comment in the middle of an event would break it.
    const silence = heartbeat(() => outlet.write(COMMENT));
    stopBeating = () => silence.stop();
    reply.read((lines) => {
      silence.spoken();
      const told = upToEnd(lines, translation);
      if (told) {
        silence.stop();
        outlet.end(encodedLines(told, translation) + translation.closing);
        return reply.leave();
      }
      const last = lines.at(-1);
      if (!last || !isTerminal(last)) return outlet.write(encodedLines(lines, translation));
      silence.stop();
      if (isInterrupted(last)) outlet.cut();
      else outlet.end(encodedLines(lines, translation) + translation.closing);
    });
  }

  if (history) void writeAsRead(outlet, history).then(tell, () => outlet.cut());
  else tell();
}

/** Far below the limit of unread bytes. */
const PIECE_BYTES = 65_536;

/** Resolves when all of it has been sent; never, if the reader is gone. */
async function writeAsRead(outlet: Outlet, pieces: AsyncGenerator<string>): Promise<void> {
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      outlet.write(bytes.subarray(at, at + PIECE_BYTES));
      await new Promise<void>((resolve) => outlet.onDrained(resolve));
    }
  }
}

async function* encodedPieces(
  pieces: AsyncGenerator<readonly Line[]>,
  translation: Translation,
  history?: AsyncGenerator<string>,
): AsyncGenerator<string> {
  yield encoded(translation.opening);
  if (history) yield* history;
  for await (const lines of pieces) {
    if (lines.some(isInterrupted)) throw new Error("Cannot tell all of a run: the store lacks some");
    const told = upToEnd(lines, translation);
    yield encodedLines(told ?? lines, translation);
    if (told) break;
  }
  yield translation.closing;
}

/** The lines up to the one that ends the stream although the run goes on; null: none of them does. */
function upToEnd(lines: readonly Line[], { endsWith }: Translation): readonly Line[] | null {
  const at = endsWith ? lines.findIndex(endsWith) : -1;
  return at < 0 ? null : lines.slice(0, at + 1);
}

function isInterrupted(line: Line): boolean {
  return line.type === "error" && line.code === "interrupted";
}

function encodedLines(lines: readonly Line[], { eventsOf }: Translation): string {
  return encoded(lines.flatMap(eventsOf));
}

/** JSON contains no line end, so each event is one line. */
export function encoded(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
