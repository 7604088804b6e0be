import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems give to outgoing connections and to those who ask for any: a port that no server holds
 * for a moment, before its start or between two, is not taken by chance.
 */
const FIRST = 10_000;
const BLOCK = 100;
const BLOCKS = 220;

let base: Promise<number> | null = null;
let given = 0;

/** A port that nothing listens on, and that no other process is told; nor is this one told it again soon. */
export async function freePort(): Promise<number> {
  base ??= ownBlock();
  const first = await base;
  for (let tries = 1; tries < BLOCK; tries++) {
    const port = first + 1 + (given++ % (BLOCK - 1));
    const server = await listenOn(port);
    if (!server) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error(`Every port from ${first} to ${first + BLOCK - 1} is taken`);
}

/** A block is its holder's who listens on its first port: that ends with the process, however it ends. */
async function ownBlock(): Promise<number> {
  const start = Math.floor(Math.random() * BLOCKS);
  for (let i = 0; i < BLOCKS; i++) {
    const first = FIRST + BLOCK * ((start + i) % BLOCKS);
    const guard = await listenOn(first);
    if (!guard) continue;
    guard.unref();
    return first;
  }
  throw new Error(`Every block of ports from ${FIRST} up is taken`);
}

/** Null where another listens. */
async function listenOn(port: number) {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return server;
  } catch {
    return null;
  }
}
