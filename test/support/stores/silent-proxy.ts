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
  /**
   * Nothing passes from now on, or nothing from and to one address of those who connect. Connections stay open; new ones
   * are taken, and get no answer.
   */
  silence(source?: string): void;
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

const EVERYBODY = "everybody";

interface Pair {
  source: string;
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
  const silenced = new Set<string>();
  let resumed = Promise.resolve();
  let letPass = () => {};
  const open = new Set<Pair>();

  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    const pair = { source: near.remoteAddress ?? "", near, far, lost: false };
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

  /** Not for ever: whoever is held waits for what resumes it. */
  async function passes({ source }: Pair): Promise<void> {
    while (silenced.has(EVERYBODY) || silenced.has(source)) await resumed;
  }

  function resume(): void {
    silenced.clear();
    letPass();
  }

  async function pump(pair: Pair, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from.iterator({ destroyOnReturn: false })) {
        await passes(pair);
        if (pair.lost) return;
        if (delayMs > 0) await pause(delayMs);
        if (!to.write(chunk as Buffer)) await once(to, "drain");
      }
    } catch {
      // The connection is gone.
    }
    // Its end is news too, and is kept from the other side while the network is silent.
    await passes(pair);
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
    silence(source = EVERYBODY) {
      if (silenced.size === 0) resumed = new Promise((resolve) => (letPass = resolve));
      silenced.add(source);
    },
    resume,
    lose() {
      for (const pair of open) pair.lost = true;
      resume();
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
      resume();
      server.close();
      await once(server, "close");
    },
  };
}
