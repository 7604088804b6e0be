import { nobody } from "../actors/dependencies.ts";
import { threadLimitsOf } from "../actors/thread-limits.ts";
import { createThreads } from "../actors/threads.ts";
import type { Threads } from "../actors/threads.ts";
import type { Agent } from "../agent.ts";
import { systemClock, systemTimers } from "../clock.ts";
import type { Config } from "../config.ts";
import { newId } from "../domain/ids.ts";
import type { PlainLog } from "../log.ts";
import type { Store } from "../store.ts";

/** Never answers: a message that waits behind a stopped run starts here, and is stopped too. */
const nobodyThinks: Agent = {
  think: () => new Promise(() => {}),
  useTool: () => new Promise(() => {}),
  close: async () => {},
};

const quiet: PlainLog = { info() {}, warn() {}, error() {} };

/** The threads of a store, for a command that stops some of them; no turn of a model is begun there. */
export async function threadsToStop(store: Store, config: Config): Promise<Threads> {
  const channels = await store.channels(() => {});
  return createThreads({
    store,
    webhooks: (slug) => channels.find((channel) => channel.slug === slug)?.webhooks ?? [],
    agent: nobodyThinks,
    clock: systemClock,
    timers: systemTimers,
    newId,
    log: quiet,
    observer: nobody,
    limits: threadLimitsOf(config),
  });
}
