import { once } from "node:events";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { messageOf } from "../../errors.ts";

/** A port that belongs to one service; the service's processes listen on it together. */
export interface ReservedPort {
  port: number;
  release(): void;
}

/**
 * A shared port (SO_REUSEPORT) is open to other services as well: a second one would get half of the connections. So a
 * service first takes the port exclusively for a moment, which fails if anybody listens, and also a name for as long as it
 * runs, which keeps out a second service that starts at the same moment. The name is an abstract socket of Linux: it belongs
 * to this network namespace, as the port does, and ends with its process. Rejects if another service has the port.
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
