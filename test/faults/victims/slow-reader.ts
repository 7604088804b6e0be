import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

/** A client that asks for a stream, reads its first bytes, and nothing more. */
export interface SlowReader {
  /** Reads what is left after all, to the end of the connection; answers how many bytes there were in all, and the last ones. */
  readRest(): Promise<{ bytes: number; end: string }>;
}

/** Resolves when the answer has begun: whoever asked to re-attach is attached by then. */
export async function startSlowReader(
  url: string,
  asking: { method: string; path: string; headers: Record<string, string>; body?: object },
): Promise<SlowReader> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const body = asking.body ? JSON.stringify(asking.body) : "";
  const headers = {
    host: `${hostname}:${port}`,
    ...asking.headers,
    ...(asking.body
      ? { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }
      : {}),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write([`${asking.method} ${asking.path} HTTP/1.1`, ...lines, "", body].join("\r\n"));
  let bytes = 0;
  let end = "";
  await new Promise<void>((resolve, reject) => {
    socket.once("close", () => reject(new Error("Cannot read slowly: the connection was closed at once")));
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      bytes = chunk.byteLength;
      resolve();
    });
  });
  return {
    readRest() {
      return new Promise((resolve) => {
        socket.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
          end = (end + chunk.toString("latin1")).slice(-200);
        });
        socket.once("close", () => resolve({ bytes, end }));
        socket.resume();
      });
    },
  };
}
