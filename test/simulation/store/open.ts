import type { PlainLog } from "../../../src/log.ts";
import { Secret } from "../../../src/secret.ts";
import type { Store } from "../../../src/store.ts";
import { createWrapping } from "../../../src/stores/content-keys/wrapping.ts";
import { storeOn } from "../../../src/stores/steps/store.ts";
import type { Process } from "../instance/process.ts";
import type { Trap } from "../instance/trap.ts";
import type { World } from "../world.ts";
import { createCalls } from "./calls.ts";
import { partName } from "./effects.ts";
import type { Asked } from "./effects.ts";
import { createEngine } from "./engine.ts";

const wrapping = createWrapping({
  seals: true,
  keys: [{ id: "k1", key: new Secret(Buffer.alloc(32, 7).toString("base64")) }],
});

/** Called as a reading of a thread is sent off; what it answers is called when the reading takes place. */
export type WatchLoads = (uid: string) => () => void;

/** The real store of one process, on its engine over the simulated cluster: notes what is asked of it for the checker. */
export async function openStore(
  world: World,
  process: Process,
  { trap, watchLoad, log }: { trap: Trap; watchLoad: WatchLoads; log: Pick<PlainLog, "warn"> },
): Promise<Store> {
  const { judge, plan, trace } = world;
  const asked: Asked = { commits: new Map(), messages: new Map(), parts: new Map() };
  const call = createCalls(world, process, trap);
  const store = await storeOn(createEngine(world, process, { call, asked, watchLoad }), {
    clock: process.clock,
    timers: process.timers,
    log,
    ...(plan.isEncrypted ? { wrapping } : {}),
  });
  trace.know(store.processId, process.id);

  return {
    ...store,

    async commit(commit) {
      asked.commits.set(commit.opId, structuredClone(commit));
      if (commit.orWait)
        asked.messages.set(commit.orWait.message.runId, structuredClone(commit.orWait.message));
      const result = await store.commit(commit);
      judge({ type: "commit heard", opId: commit.opId });
      return result;
    },

    wait(uid, message, max) {
      asked.messages.set(message.runId, structuredClone(message));
      return store.wait(uid, message, max);
    },

    keepPart(part) {
      asked.parts.set(partName(part.fence, part.runId, part.nth), part);
      return store.keepPart(part);
    },

    hasValidToken(slug, userId) {
      judge({ type: "user looked at", userId, by: process.id, nowMs: process.clock.now() });
      return store.hasValidToken(slug, userId);
    },

    restingThreads(slug, page) {
      const look = { by: process.id, slug, untilMs: page.untilMs, nowMs: process.clock.now() };
      judge({ type: "rest looked for", look });
      return store.restingThreads(slug, page);
    },
  };
}
