import { once } from "node:events";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface RawServer {
  origin: string;
  /** Connections that carried a request; undici opens a spare one after an abort. */
  connections: () => number;
  /** Those of them that are closed. */
  closed: () => number;
}

/**
 * A server that knows no HTTP: calls `play` with the socket at the end of each request, for answers that no decent
 * server would give. Ends with the test.
 */
export async function startRawServer(play: (socket: Socket, nth: number) => void): Promise<RawServer> {
  let connections = 0;
  let closed = 0;
  let requests = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let unread = "";
    let carried = 0;
    socket.on("error", () => {});
    socket.on("close", () => {
      if (carried > 0) closed += 1;
      sockets.delete(socket);
    });
    socket.on("data", (bytes) => {
      unread += bytes.toString("latin1");
      for (let size = requestSize(unread); size !== null; size = requestSize(unread)) {
        unread = unread.slice(size);
        if (carried === 0) connections += 1;
        carried += 1;
        requests += 1;
        play(socket, requests - 1);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, "close");
  });
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("Cannot start the raw server: no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    connections: () => connections,
    closed: () => closed,
  };
}

/** Length of the whole request at the start of the text; null where it is not whole yet. */
function requestSize(text: string): number | null {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return null;
  const size = head + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length >= size ? size : null;
}
