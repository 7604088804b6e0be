import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

/** A client that asks for a stream and reads nothing of it. */
export interface SlowReader {
  /** Reads what is left after all, to the end of the connection; answers how many bytes there were, and the last ones. */
  readRest(): Promise<{ bytes: number; end: string }>;
}

export async function startSlowReader(
  url: string,
  asking: { method: string; path: string; headers: Record<string, string>; body?: object },
): Promise<SlowReader> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
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
  return {
    readRest() {
      return new Promise((resolve) => {
        let bytes = 0;
        let end = "";
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
