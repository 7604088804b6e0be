import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import type { Reply } from "../../threads/hold/reply.ts";
import type { HttpAnswer, HttpRequest } from "../../listener.ts";
import { acceptsGzip } from "./accepts-gzip.ts";
import { gzipOutlet, mayCompress } from "./gzip.ts";
import { heartbeat } from "./heartbeat.ts";
import { encodeLines } from "./ndjson.ts";
import { writePulled } from "./pull.ts";

/** Proxies and caches must pass on each line at once, unchanged. */
const STREAM_HEADERS = {
  "content-type": "application/x-ndjson",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
  vary: "accept-encoding",
};

/** Names the run of a stream: a reader who lost the stream re-attaches to this run, and never to a later one. */
export const RUN_ID_HEADER = "x-run-id";

/**
 * A reply as an answer: its lines as they happen, gzipped if the request accepts it and the limit allows; ends with the
 * terminal line.
 */
export function streamAnswer(reply: Reply, request: HttpRequest): HttpAnswer {
  const headers = { ...STREAM_HEADERS, [RUN_ID_HEADER]: reply.runId };
  const compresses = acceptsGzip(request.headers.get("accept-encoding")) && mayCompress();
  return {
    status: 200,
    headers: compresses ? { ...headers, "content-encoding": "gzip" } : headers,
    stream(socket) {
      const outlet = compresses ? gzipOutlet(socket) : socket;
      if (reply.pieces) return writePulled(outlet, encodedPieces(reply.pieces()));
      // White space before a line: every JSON parser ignores it, and it is not taken for a line.
      const silence = heartbeat(() => outlet.write(" "));
      outlet.onGone(() => {
        silence.stop();
        reply.leave();
      });
      reply.read((lines) => {
        silence.spoken();
        const last = lines.at(-1);
        if (last && isTerminal(last)) {
          silence.stop();
          outlet.end(encodeLines(lines));
        } else outlet.write(encodeLines(lines));
      });
    },
  };
}

async function* encodedPieces(pieces: AsyncGenerator<readonly Line[]>): AsyncGenerator<string> {
  for await (const lines of pieces) yield encodeLines(lines);
}
