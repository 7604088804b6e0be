import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import type { Line } from "../../../machines/line.ts";
import { linesOf, open } from "./ask.ts";
import type { Asking } from "./ask.ts";

/** A stream as its client reads it, line by line. */
export interface OpenStream {
  status: number;
  headers: IncomingMessage["headers"];
  /** What has come so far. */
  lines(): Line[];
  /** Resolves when a line of this type has come; rejects where the body ends without one. */
  has(type: Line["type"]): Promise<void>;
  /** Resolves with every line when the body has ended. */
  end(): Promise<Line[]>;
  /** Leaves in the middle: the connection is torn down. */
  leave(): void;
}

/** Resolves when status and headers are here. */
export async function openStream(url: string, asking: Asking): Promise<OpenStream> {
  const answer = await open(url, asking);
  let text = "";
  const watchers = new Set<() => void>();
  const body = answer.headers["content-encoding"] === "gzip" ? answer.pipe(createGunzip()) : answer;
  body.setEncoding("utf8");
  const ended = new Promise<Line[]>((resolve, reject) => {
    body.once("end", () => resolve(lines()));
    body.once("error", reject);
    answer.once("error", reject);
  });
  // Who leaves does not wait for the end.
  ended.catch(() => {});
  body.on("data", (piece: string) => {
    text += piece;
    for (const watcher of watchers) watcher();
  });

  const lines = () => linesOf(text.slice(0, text.lastIndexOf("\n") + 1));
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    lines,
    has: (type) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!lines().some((line) => line.type === type)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
        const types = () => lines().map((line) => line.type);
        ended
          .then(() => reject(new Error(`Cannot see ${type}: the stream ended with ${types().join(", ")}`)))
          .catch(reject);
      }),
    end: () => ended,
    leave: () => void answer.socket.resetAndDestroy(),
  };
}
