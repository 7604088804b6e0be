import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";

import { checkInvariants } from "../../stores/twin/invariants.ts";
import { dumpEmbedded, dumpRedis } from "../../stores/dump-store.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { faultsAfter } from "./faults-after.ts";
import type { CrashPoint } from "./crash-store.ts";
import type { EchoModel } from "../victims/echo-model.ts";
import { Broken, createPlay } from "./play.ts";
import type { Scenario } from "./scenarios.ts";
import { startVictim } from "../victims/victims.ts";
import type { Victim } from "../victims/victims.ts";
import type { VictimSettings } from "../victims/victim.ts";

/** Where crash cases are played: an implementation, and what becomes of a thread whose process died. */
export interface CrashGround {
  name: "embedded" | "redis";
  /** Plays a scenario up to a crash point, and what comes after. */
  play(scenario: Scenario, crash: CrashPoint): Promise<CrashOutcome>;
  /** Once all plays are over; answers what does not fit together in a store that they shared. */
  remove(): Promise<string[]>;
}

export interface CrashOutcome {
  /** False: the scenario has fewer changes than that. */
  reached: boolean;
  faults: string[];
}

interface Parts {
  model: EchoModel;
  settings: VictimSettings;
}

/** The embedded store: the process is started again on the same folder. */
export function embeddedGround({ model, settings }: Parts): CrashGround {
  return {
    name: "embedded",
    async play(scenario, crash) {
      const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-crash-"));
      const env = { ...baseEnv(model), ...scenario.env, DATA_DIR: dataDir };
      const victim = await startVictim(env, { ...settings, crash });
      let latest = victim;
      const store = await openEmbeddedStore({ dataDir, clock: systemClock });
      try {
        const outcome = await playThrough({ scenario, crash }, { model, store, victim }, async () => {
          latest = await startVictim(env, settings);
          return latest.url;
        });
        await latest.terminate();
        outcome.faults.push(...checkInvariants(await dumpEmbedded(dataDir)));
        return outcome;
      } finally {
        await latest.kill9();
        await store.close();
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
    remove: () => Promise.resolve([]),
  };
}

/** Redis: another process, which was there all the time, takes over. */
export async function redisGround({ model, settings }: Parts): Promise<CrashGround> {
  const redis = await startRedis();
  const env = { ...baseEnv(model), REDIS_URL: redis.url };
  const heir = await startVictim(env, settings);
  const store = await openRedisStore({
    urls: [redis.url],
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
  });
  return {
    name: "redis",
    async play(scenario, crash) {
      const victim = await startVictim({ ...env, ...scenario.env }, { ...settings, crash });
      try {
        return await playThrough({ scenario, crash }, { model, store, victim }, () =>
          Promise.resolve(heir.url),
        );
      } finally {
        await victim.kill9();
      }
    },
    async remove() {
      await heir.terminate();
      await store.close();
      const faults = checkInvariants(await dumpRedis([redis.url]));
      await redis.stop();
      return faults;
    },
  };
}

function baseEnv(model: EchoModel): NodeJS.ProcessEnv {
  return { OPENAI_BASE_URL: model.baseUrl, SHUTDOWN_GRACE_SECONDS: "5" };
}

/** The scenario, as far as it goes; then the life after it. `recover` answers where the service is after a death. */
async function playThrough(
  { scenario, crash }: { scenario: Scenario; crash: CrashPoint },
  { model, store, victim }: { model: EchoModel; store: Store; victim: Victim },
  recover: () => Promise<string>,
): Promise<CrashOutcome> {
  let { url } = victim;
  const play = createPlay({ url: () => url, model, store });
  const acting = scenario.act(play).catch((error: unknown) => {
    if (!(error instanceof Broken)) throw error;
  });
  // What waits for the process to do something would wait for ever.
  await Promise.race([acting, victim.exit]);
  // The point still lies ahead: the scenario has fewer changes.
  if (!victim.reachedCrash) return { reached: false, faults: [] };
  if (crash.mode !== "answer-lost") {
    await victim.exit;
    url = await recover();
  }
  return { reached: true, faults: await faultsAfter(play, store) };
}
