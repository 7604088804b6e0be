import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/**
 * A network that loses a server without a word: bytes stop, and neither end is told. To a client, a proxy that stands
 * still with its connections open looks like a machine that lost its power.
 */
export interface SilentProxy {
  host: string;
  port: number;
  /** Nothing passes from now on. Connections stay open; new ones are taken, and get no answer. */
  silence(): void;
  /** What was held back passes after all, as after a stalled link. */
  resume(): void;
  /** What was held back is lost: connections open now stay silent for good, new ones pass. */
  lose(): void;
  /** Each piece arrives so much later. */
  delay(ms: number): void;
  /** Ends every open connection with a reset. */
  reset(): void;
  /** New connections go to this port; open ones stay where they are. */
  lead(port: number): void;
  close(): Promise<void>;
}

interface Pair {
  near: Socket;
  far: Socket;
  lost: boolean;
}

/** `target`: the port of the server behind, on 127.0.0.1. Without `port`, any free one. */
export async function startSilentProxy(options: {
  host?: string;
  port?: number;
  target: number;
}): Promise<SilentProxy> {
  const { host = "127.0.0.1" } = options;
  let { target } = options;
  let delayMs = 0;
  let passing = Promise.resolve();
  let letPass = () => {};
  const open = new Set<Pair>();

  const server = createServer((near) => {
    const pair = { near, far: connect(target, "127.0.0.1"), lost: false };
    open.add(pair);
    for (const socket of [pair.near, pair.far]) {
      socket.setNoDelay(true);
      socket.on("error", () => {});
    }
    void pump(pair, pair.near, pair.far);
    void pump(pair, pair.far, pair.near);
  });
  server.listen(options.port ?? 0, host);
  await once(server, "listening");

  async function pump(pair: Pair, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from.iterator({ destroyOnReturn: false })) {
        await passing;
        if (pair.lost) return;
        if (delayMs > 0) await pause(delayMs);
        if (!to.write(chunk as Buffer)) await once(to, "drain");
      }
    } catch {
      // The connection is gone.
    }
    // Its end is news too, and is kept from the other side while the network is silent.
    await passing;
    if (pair.lost) return;
    end(pair);
  }

  function end(pair: Pair): void {
    open.delete(pair);
    pair.near.destroy();
    pair.far.destroy();
  }

  return {
    host,
    port: (server.address() as AddressInfo).port,
    silence() {
      letPass();
      passing = new Promise((resolve) => (letPass = resolve));
    },
    resume: () => letPass(),
    lose() {
      for (const pair of open) pair.lost = true;
      letPass();
    },
    delay: (ms) => void (delayMs = ms),
    reset() {
      for (const { near, far } of open) {
        near.resetAndDestroy();
        far.resetAndDestroy();
      }
    },
    lead: (port) => void (target = port),
    async close() {
      for (const pair of open) end(pair);
      letPass();
      server.close();
      await once(server, "close");
    },
  };
}
