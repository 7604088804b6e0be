import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "../../../src/store.ts";
import { freePort } from "../../support/servers/free-port.ts";
import type { VictimSettings } from "../victims/victim.ts";
import { startVictim } from "../victims/victims.ts";
import type { Victim } from "../victims/victims.ts";

/** Several processes of the service that share a store. */
export interface Instances {
  victims: Victim[];
  /** Starts instance `index` again, on the port that it had. */
  restart: (index: number, settings?: VictimSettings) => Promise<void>;
  /** Kills all of them. */
  stop: () => Promise<void>;
}

const SETTLE_MS = 120_000;
const MOST_STARTS = 10;
const AGAIN_MS = 200;

export async function startInstances(options: {
  count: number;
  env: NodeJS.ProcessEnv;
  settings?: VictimSettings;
}): Promise<Instances> {
  const { env, settings = {} } = options;
  // Named from the start: a port that was any free one is not given again for a minute after a death (SO_REUSEADDR).
  const ports = await Promise.all(Array.from({ length: options.count }, freePort));
  const start = (port: number, changed = settings) =>
    untilStarted(() => startVictim({ ...env, PORT: String(port) }, changed));
  const victims = await Promise.all(ports.map((port) => start(port)));

  return {
    victims,
    async restart(index, changed) {
      victims[index] = await start(mustHave(ports[index]), changed);
    },
    async stop() {
      for (const victim of victims) victim.resume();
      await Promise.all(victims.map((victim) => victim.kill9()));
    },
  };
}

/** On a busy machine a start may miss the store's deadline, and ends: as an operator's would, it is tried again. */
async function untilStarted(start: () => Promise<Victim>): Promise<Victim> {
  for (let tries = 1; tries < MOST_STARTS; tries++) {
    try {
      return await start();
    } catch {
      await pause(AGAIN_MS);
    }
  }
  return start();
}

/** Resolves when no thread of these runs or waits. */
export async function settled(store: Pick<Store, "load">, uids: Iterable<string>): Promise<void> {
  const endsAt = performance.now() + SETTLE_MS;
  for (const uid of uids) {
    for (;;) {
      const record = await store.load(uid, 1).catch(() => "unreachable" as const);
      if (!record || (record !== "unreachable" && record.fence === null)) break;
      if (performance.now() > endsAt) throw new Error(`Thread ${uid} does not settle`);
      await pause(50);
    }
  }
}

export function mustHave<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("Cannot go on: no such instance");
  return value;
}
