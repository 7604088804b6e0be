import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import type { Reply } from "../../actors/reply.ts";
import type { HttpAnswer, HttpRequest, Outlet } from "../../listener.ts";
import { acceptsGzip } from "./accepts-gzip.ts";
import { gzipOutlet, mayCompress } from "./gzip.ts";
import { heartbeat } from "./heartbeat.ts";
import { writePulled } from "./pull.ts";
import { RUN_ID_HEADER } from "./stream-answer.ts";

/** What a front end's protocol makes of a reply. It is used for one stream. */
export interface Translation {
  headers: Record<string, string>;
  /** What comes before the first line. */
  opening: readonly object[];
  /** The events that tell a line. */
  eventsOf: (line: Line) => readonly object[];
  /** What comes after the last event, as it stands on the wire. */
  closing: string;
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
  vary: "accept-encoding",
};

/** A comment: every reader passes over it, and no proxy takes the stream for dead. */
const COMMENT = ":\n\n";

/**
 * A reply as server-sent events, as they come. Where the run goes on in another process the connection breaks off: a clean
 * end would look like the end of the reply.
 */
export function sseAnswer(reply: Reply, request: HttpRequest, translation: Translation): HttpAnswer {
  const headers = { ...HEADERS, ...translation.headers, [RUN_ID_HEADER]: reply.runId };
  const compresses = acceptsGzip(request.headers.get("accept-encoding")) && mayCompress();
  return {
    status: 200,
    headers: compresses ? { ...headers, "content-encoding": "gzip" } : headers,
    stream(socket) {
      const outlet = compresses ? gzipOutlet(socket) : socket;
      if (reply.pieces) writePulled(outlet, encodedPieces(reply.pieces(), translation));
      else writeLive(outlet, reply, translation);
    },
  };
}

function writeLive(outlet: Outlet, reply: Reply, translation: Translation): void {
  const silence = heartbeat(() => outlet.write(COMMENT));
  outlet.onGone(() => {
    silence.stop();
    reply.leave();
  });
  outlet.write(encoded(translation.opening));
  reply.read((lines) => {
    silence.spoken();
    const last = lines.at(-1);
    if (!last || !isTerminal(last)) return outlet.write(encodedLines(lines, translation));
    silence.stop();
    if (isInterrupted(last)) outlet.cut();
    else outlet.end(encodedLines(lines, translation) + translation.closing);
  });
}

async function* encodedPieces(
  pieces: AsyncGenerator<readonly Line[]>,
  translation: Translation,
): AsyncGenerator<string> {
  yield encoded(translation.opening);
  for await (const lines of pieces) {
    if (lines.some(isInterrupted)) throw new Error("Cannot tell all of a run: the store lacks some");
    yield encodedLines(lines, translation);
  }
  yield translation.closing;
}

function isInterrupted(line: Line): boolean {
  return line.type === "error" && line.code === "interrupted";
}

function encodedLines(lines: readonly Line[], { eventsOf }: Translation): string {
  return encoded(lines.flatMap(eventsOf));
}

/** JSON has no line end in it, so each event is one line. */
function encoded(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
