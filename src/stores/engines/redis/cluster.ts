import { setTimeout as sleep } from "node:timers/promises";
import { createFinder } from "./cluster/finder.ts";
import { createMoves } from "./cluster/moves.ts";
import { createNodes } from "./cluster/nodes.ts";
import { hashTagOf, slotOf } from "./cluster/slots.ts";
import { createSubscriber } from "./cluster/subscriber.ts";
import { hostOf, portOf, resolved } from "./cluster/topology.ts";
import { connectionOptions } from "./connection.ts";
import type { ConnectionOptions, Reply } from "./connection.ts";
import { createDeadline } from "../../deadline.ts";
import { keysOf, onArrivingSlot, traceKey } from "./library.ts";
import { outageNotice } from "./link.ts";
import type { LinkOptions, RedisLink } from "./link.ts";
import { refusalIn } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

/** Pause between two attempts while no node serves the slot, or its keys are on two nodes. */
const AGAIN_MS = 50;

/** Redirects in a row without a pause. */
const MOST_REDIRECTS = 5;

/** Where a call goes, and whether its slot is still moving there. */
interface Destination {
  address: string;
  asking: boolean;
}

/**
 * The link to a Redis Cluster, found by any of its nodes. Resolves when one primary is connected; rejects with
 * StoreUnavailable if that takes too long.
 *
 * Not node-redis's own cluster client: there one client serves all nodes, so one that hangs blocks the others, and it
 * asks only the nodes that it already knows.
 */
export async function linkToCluster(urls: string[], { log, deadlineMs }: LinkOptions): Promise<RedisLink> {
  const notice = outageNotice(log);
  const seeds = urls.map((url) => connectionOptions(url, deadlineMs));
  const shared = seeds[0] ?? connectionOptions("", deadlineMs);

  function optionsAt(address: string): ConnectionOptions {
    return { ...shared, socket: { ...shared.socket, host: hostOf(address), port: portOf(address) } };
  }

  const nodes = createNodes({
    optionsAt,
    deadlineMs,
    onLost(error) {
      notice.lost(error);
      finder.lookSoon();
    },
    onReady: () => notice.back(),
  });
  const finder = createFinder(
    nodes,
    seeds.map(({ socket }) => `${socket.host}:${socket.port}`),
    (error) => notice.lost(error),
  );
  const subscriber = createSubscriber(() => {
    const ready = finder.readyPrimaries();
    const chosen = ready[Math.floor(Math.random() * ready.length)];
    return chosen === undefined ? null : optionsAt(chosen);
  });
  const silenceMs = deadlineMs / 4;
  const moves = createMoves({
    credentials: shared,
    ready: (address) => nodes.readyAt(address, performance.now() + silenceMs),
    silenceMs,
  });

  function close(): void {
    finder.close();
    subscriber.close();
    nodes.close();
  }

  try {
    await createDeadline(deadlineMs).bound(finder.found, () => notice.noConnection());
  } catch (error) {
    close();
    throw error;
  }

  function homeOf(key: string): Destination | null {
    const address = finder.topology().primaryOf(slotOf(key));
    return address === null ? null : { address, asking: false };
  }

  /** Where to go after a refusal; null: wait, then start again at the slot's primary. */
  async function next(
    refusal: Refusal,
    { address, args, untilMs }: { address: string; args: string[]; untilMs: number },
  ): Promise<Destination | null> {
    switch (refusal.type) {
      case "moved":
      case "ask": {
        const asking = refusal.type === "ask";
        if (!asking) finder.lookSoon();
        const there = resolved(refusal.address, address);
        return (await nodes.readyAt(there, untilMs)) ? { address: there, asking } : null;
      }
      case "half-moved": {
        const target = await moves.bring(keysOf(args), { server: nodes.at(address), address });
        return target === null ? null : { address: target, asking: true };
      }
      case "unserved":
        finder.lookSoon();
        return null;
    }
  }

  /** Preferably in slots that the node keeps, whatever happens to this one. */
  function tracesAt({ address, asking }: Destination, key: string): string[] {
    const own = traceKey(hashTagOf(key));
    return asking ? [own] : [...finder.topology().tracesOf(address), own];
  }

  async function attempt(to: Destination, key: string, args: string[], copied: boolean): Promise<Reply> {
    const { address, asking } = to;
    const command = asking && keysOf(args).length > 0 ? onArrivingSlot(args) : args;
    return nodes.at(address).exchange(command, { copied, traces: copied ? tracesAt(to, key) : [], asking });
  }

  return {
    async send(key, args, copied) {
      const untilMs = performance.now() + deadlineMs;
      let destination = homeOf(key);
      let last: unknown = new Error(`no node has the slot of ${key}`);
      // After the deadline no caller waits any more, so nothing is sent.
      for (let redirects = 0; performance.now() < untilMs; redirects++) {
        // Two nodes that redirect to each other do not agree yet.
        if (redirects > MOST_REDIRECTS) destination = null;
        if (destination) {
          try {
            return await attempt(destination, key, args, copied);
          } catch (error) {
            const refusal = refusalIn(error);
            if (!refusal) throw error;
            last = error;
            destination = await next(refusal, { address: destination.address, args, untilMs });
          }
        }
        if (!destination) {
          await sleep(AGAIN_MS);
          finder.lookSoon();
          destination = homeOf(key);
        }
      }
      throw last;
    },

    suspect(key, sinceMs) {
      const address = homeOf(key)?.address;
      if (address === undefined) return;
      const server = nodes.at(address);
      if (server.isReady && server.isSilentSince(sinceMs)) nodes.replace(address);
      finder.lookSoon();
    },

    shards() {
      const topology = finder.topology();
      return topology.primaries.map((address) => {
        const [key = traceKey("g")] = topology.tracesOf(address);
        return { address, key, server: nodes.at(address) };
      });
    },

    subscribe: (name, listener) => subscriber.subscribe(name, listener),

    close,
  };
}
