import { createThreads } from "../../../src/threads/threads.ts";
import type { RunningThreads } from "../../../src/threads/threads.ts";
import { createVisitors } from "../../../src/visitors/visitors.ts";
import { nobody } from "../../../src/threads/dependencies.ts";
import { createDirectory } from "../../../src/admission/directory.ts";
import { createKeyDoor } from "../../../src/admission/key-door.ts";
import { createRateWindows } from "../../../src/admission/rate-windows.ts";
import { pause } from "../../../src/clock.ts";
import { readConfig } from "../../../src/config.ts";
import { createHandler } from "../../../src/http/handler.ts";
import type { Handler } from "../../../src/listener.ts";
import { createRetention } from "../../../src/operators/retention/retention.ts";
import { noProgress } from "../../../src/operators/retention/retention-sweep.ts";
import { Secret } from "../../../src/secret.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { openStore } from "../store/open.ts";
import type { World } from "../world.ts";
import { createSimulatedAgent } from "./agent.ts";
import type { AgentNumbers } from "./agent.ts";
import { watchCancels } from "./cancels.ts";
import { HAND_OFF, TRANSPORT_KEY } from "../channels.ts";
import type { Process } from "./process.ts";
import { createTrap } from "./trap.ts";
import type { Trap } from "./trap.ts";

/** One process of the service: the real threads, visitors, admission and HTTP, on simulated time, store and model. */
export interface Instance {
  readonly process: Process;
  readonly trap: Trap;
  /** Null: its store is not open yet. */
  readonly threads: RunningThreads | null;
  readonly handler: Handler;
  /** It takes requests. */
  readonly isOpen: boolean;
  /** Resolves when it takes requests. */
  start(): Promise<void>;
  /** SIGTERM: takes no more requests, drains, and is gone. */
  stop(graceMs: number): Promise<void>;
}

/** Small enough that each limit is met, and that what must end by itself does so within a simulation. */
const LIMITS = {
  runTimeoutMs: 20_000,
  runMaxToolCalls: 4,
  toolResultTimeoutMs: 8_000,
  runMaxReplyChars: 200_000,
  threadQueueMax: 3,
  historyBudgetChars: 100_000_000,
};
export const RUN_TIMEOUT_MS = LIMITS.runTimeoutMs;
export const RUN_MAX_REPLY_CHARS = LIMITS.runMaxReplyChars;

/** Rates are another subject. */
const config = readConfig({
  WIDGET_MESSAGES_PER_MINUTE: "100000",
  WIDGET_IP_MESSAGES_PER_MINUTE: "100000",
  WIDGET_TOOL_RESULTS_PER_MINUTE: "100000",
  WIDGET_IP_TOOL_RESULTS_PER_MINUTE: "100000",
  WIDGET_RATINGS_PER_MINUTE: "100000",
  WIDGET_IP_RATINGS_PER_MINUTE: "100000",
  WIDGET_THREADS_PER_HOUR: "100000",
  WIDGET_VISITORS_PER_HOUR_PER_IP: "100000",
  WIDGET_READS_PER_MINUTE: "100000",
  WIDGET_IP_READS_PER_MINUTE: "100000",
});

const RETRY_MS = 300;
const CHANNELS = ["shop", "cli"];
/** Days last some seconds here, and the sweep that looks each minute comes by each other second. */
const QUICKER = 30;

export function createInstance(
  world: World,
  { process, numbers }: { process: Process; numbers: AgentNumbers },
): Instance {
  const { timers } = process;
  const trap = createTrap();
  const log = watchedLog(world, process);
  const cancels = watchCancels(world, process);
  const opening = { trap, watchLoad: cancels.watchLoad, log };
  let service: Service | null = null;
  let isOpen = false;

  async function untilAnswered<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await pause(timers, RETRY_MS);
      return untilAnswered(call);
    }
  }

  return {
    process,
    trap,

    get threads() {
      return service?.threads ?? null;
    },
    handler(request) {
      if (!service) throw new Error(`Cannot ask ${process.id}: it has not begun`);
      return service.handler(request);
    },
    get isOpen() {
      return isOpen && process.isAlive;
    },

    async start() {
      const store = await untilAnswered(() => openStore(world, process, opening));
      const { threads, directory, retention } = (service = serviceOn(store, world, {
        process,
        numbers,
        log,
        cancels,
      }));
      await untilAnswered(async () => {
        await directory.renew();
        // Its regular look waits for a real timer, and is left out: channels do not change here.
        if (CHANNELS.some((slug) => directory.faultOf(slug))) throw new StoreUnavailable("read the channels");
      });
      isOpen = true;
      await threads.start();
      if (world.plan.retention) retention.start();
    },

    async stop(graceMs) {
      isOpen = false;
      service?.retention.stop();
      world.trace.add(null, `${process.id} drains`);
      await service?.threads.drain(graceMs);
      await service?.store.close();
      process.die();
    },
  };
}

type Service = ReturnType<typeof serviceOn>;

/** The real service on its store. */
function serviceOn(
  store: Store,
  world: World,
  {
    process,
    numbers,
    log,
    cancels,
  }: {
    process: Process;
    numbers: AgentNumbers;
    log: ReturnType<typeof watchedLog>;
    cancels: ReturnType<typeof watchCancels>;
  },
) {
  const { clock, timers } = process;
  const random = world.randomOf(`jitter of ${process.id}`);
  let ids = 0;

  const threads = createThreads({
    store,
    agent: createSimulatedAgent(world, process, numbers),
    clock,
    timers,
    newId: () => `${process.id}.${++ids}`,
    random: random.next,
    log,
    limits: LIMITS,
    observer: nobody,
    handOff: () => HAND_OFF,
    whileRunning: () => world.plan.talk.whileRunning,
  });
  const directory = createDirectory({ store, log });
  const handler = createHandler({
    config,
    transportKeys: [new Secret(TRANSPORT_KEY)],
    keyDoor: createKeyDoor({ config, clock, log }),
    store,
    threads: cancels.over(threads),
    visitors: createVisitors({
      store,
      clock,
      ttlMs: world.plan.retention?.tokenMs ?? config.visitorTtlMs,
    }),
    directory,
    windows: createRateWindows({ limits: config.limits, clock }),
    clock,
    log,
    health: { model: "demo" },
  });

  const retention = createRetention({
    store,
    forgets: threads.forgetting.aged,
    channels: () => directory.channels(),
    share: () => threads.share(),
    clock,
    timers: { after: (ms, run) => timers.after(ms / QUICKER, run) },
    // One thread or user that it cannot delete is our own fault, and not the store's.
    log: { warn: (fields, text) => log.error(fields, text) },
    progress: noProgress,
    random: random.next,
    pace: { elapsed: () => clock.elapsed(), sleep: (ms) => pause(timers, ms) },
  });

  return { store, threads, handler, directory, retention };
}

/** Errors are told to the checker; that the store does not answer is none. */
function watchedLog({ judge, trace }: World, { id }: Process) {
  const told = (fields: object) => ("err" in fields && fields.err instanceof Error ? fields.err : null);
  return {
    info() {},
    warn(fields: object, text: string) {
      trace.add(null, `${id} warns: ${text}${told(fields) ? `: ${told(fields)?.message}` : ""}`);
    },
    error(fields: object, text: string) {
      const error = told(fields);
      if (error instanceof StoreUnavailable) return;
      // A user's key goes with the user, before the threads are erased that somebody may be reading.
      const uid = /^Cannot read the .* at (\S+): it is encrypted, and the key of its user is gone$/.exec(
        error?.message ?? "",
      )?.[1];
      judge({ type: "fault", by: id, uid: uid ?? null, text: `${text}: ${error?.stack ?? ""}` });
    },
  };
}
