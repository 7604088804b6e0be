import { once } from "node:events";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { messageOf } from "../../errors.ts";

/** A port that is one service's, whose processes listen on it together. */
export interface ReservedPort {
  port: number;
  release(): void;
}

/**
 * Processes that share a port keep nobody else out who shares it, too: a second service would take half of the callers.
 * So a service takes the port alone for a moment, which fails where anybody listens, and a name for as long as it runs,
 * which keeps out a second one that starts in the same moment. The name is an abstract socket of Linux: it is of this
 * network namespace, as the port is, and ends with its process. Rejects if another has the port.
 */
export async function reservePort({ host, port }: { host: string; port: number }): Promise<ReservedPort> {
  const probe = createServer();
  let name: Server | null = null;
  try {
    await opened(probe.listen({ host, port, exclusive: true }));
    const address = probe.address();
    const bound = address !== null && typeof address === "object" ? address.port : port;
    if (process.platform === "linux") {
      name = createServer().listen(`\0chat-agent ${host} ${bound}`);
      await opened(name);
    }
    const held = name;
    return { port: bound, release: () => held?.close() };
  } catch (error) {
    throw new Error(`Cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error });
  } finally {
    await new Promise<void>((resolve) => probe.close(() => resolve()));
  }
}

async function opened(server: Server): Promise<void> {
  await once(server, "listening");
}
