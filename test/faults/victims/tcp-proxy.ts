import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** What a network does to connections. `up`: from the client to the server. */
export interface Weather {
  /** Each piece arrives so much later. */
  latencyMs: number;
  /** Pieces are no longer than this. */
  sliceBytes: number;
  bytesPerSecond: number;
  /** Connections stay open, new ones too, and nothing passes. */
  hangs: boolean;
  /** New connections are refused. */
  refuses: boolean;
  /** A connection ends when so many bytes have passed in one direction. */
  cutAfter: { direction: "up" | "down"; bytes: number } | null;
}

const FAIR: Weather = {
  latencyMs: 0,
  sliceBytes: Infinity,
  bytesPerSecond: Infinity,
  hangs: false,
  refuses: false,
  cutAfter: null,
};

/** A bad network in front of one server: between us and Redis, us and the model, or a client and us. */
export interface TcpProxy {
  port: number;
  /** From now on, for open connections too; what is not named is fair. */
  bring(weather: Partial<Weather>): Promise<void>;
  heal(): Promise<void>;
  /** Ends every open connection, in good form or with a reset. */
  cut(how?: "end" | "reset"): void;
  /** New connections go to another server of this machine. */
  lead(port: number): void;
  /** Connections taken so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/** `port`: of the server behind, on this machine. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  let target = port;
  let weather = FAIR;
  let connections = 0;
  const open = new Set<Pair>();
  const changed = new Set<() => void>();

  const server = createServer({ pauseOnConnect: false }, (client) => {
    connections += 1;
    const behind = connect(target, "127.0.0.1");
    const pair: Pair = { client, behind };
    open.add(pair);
    const end = () => {
      open.delete(pair);
      for (const socket of [client, behind]) socket.destroy();
    };
    for (const socket of [client, behind]) {
      socket.setNoDelay(true);
      // A torn connection is what this is for; both ends go together.
      socket.on("error", end).on("close", end);
    }
    void pump("up", client, behind).finally(end);
    void pump("down", behind, client).finally(end);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = (server.address() as AddressInfo).port;

  async function pump(direction: "up" | "down", from: Socket, to: Socket): Promise<void> {
    let passed = 0;
    try {
      for await (const chunk of from) {
        for (let rest = chunk as Buffer; rest.byteLength > 0;) {
          while (weather.hangs) await new Promise<void>((resolve) => changed.add(resolve));
          const { latencyMs, sliceBytes, bytesPerSecond, cutAfter } = weather;
          const left = cutAfter?.direction === direction ? cutAfter.bytes - passed : Infinity;
          if (left <= 0) return;
          const piece = rest.subarray(0, Math.min(sliceBytes, left, Math.max(1, bytesPerSecond / 10)));
          rest = rest.subarray(piece.byteLength);
          const waitMs = latencyMs + (1_000 * piece.byteLength) / bytesPerSecond;
          if (waitMs > 0) await pause(waitMs);
          // Each slice is a packet of its own where the reader keeps up.
          else if (sliceBytes < Infinity) await new Promise(setImmediate);
          passed += piece.byteLength;
          if (to.destroyed) return;
          if (!to.write(piece)) await once(to, "drain");
          if (cutAfter && left === piece.byteLength) return;
        }
      }
    } catch {
      // The connection is gone.
    }
  }

  async function bring(next: Partial<Weather>): Promise<void> {
    weather = { ...FAIR, ...next };
    for (const resolve of changed) resolve();
    changed.clear();
    if (weather.refuses && server.listening) {
      server.close();
    } else if (!weather.refuses && !server.listening) {
      server.listen(own, "127.0.0.1");
      await once(server, "listening");
    }
  }

  function cut(how: "end" | "reset" = "end"): void {
    for (const { client, behind } of open) {
      for (const socket of [client, behind]) {
        if (how === "reset") socket.resetAndDestroy();
        else socket.destroy();
      }
    }
  }

  return {
    port: own,
    bring,
    heal: () => bring({}),
    cut,
    lead: (other) => void (target = other),
    get connections() {
      return connections;
    },
    async close() {
      await bring({ refuses: true });
      cut();
    },
  };
}

interface Pair {
  client: Socket;
  behind: Socket;
}
