// For src/threads/, src/stores/
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { threadUid } from "../../../src/domain/threads/thread-uid.ts";
import { ask, transportHeaders } from "./client.ts";
import { startFleet } from "./fleet.ts";
import { mustHave } from "./instances.ts";
import type { Fleet } from "./fleet.ts";
import { historyFaults } from "./history-check.ts";
import { isFull, lengthOf } from "../lengths.ts";
import { nemeses } from "./nemeses.ts";
import { killVictims } from "../victims/victims.ts";
import { startWorkload } from "./workload.ts";

/**
 * P1, P5, P6, P31: many clients write through two instances on one Redis, while everything around them is torn down.
 * FAULTS_MINUTES of it; each minute has threads of its own, which are checked when it is over.
 */
const MINUTES = lengthOf("FAULTS_MINUTES", { short: 0, full: 10 });
const LEAST_PER_MINUTE = 5_000;
const THREADS = isFull ? 60 : 8;
/** Shorter than an instance is stopped: its clients go on elsewhere. */
const PATIENCE_MS = 1_500;

afterAll(() => killVictims());

interface Round {
  /** At least these, in this order; over and over until the time is up. */
  order: readonly (keyof typeof nemeses)[];
  lengthMs: number;
  /** Between two of them. */
  restMs: () => number;
}

async function play(fleet: Fleet, { order, lengthMs, restMs }: Round) {
  const workload = await startWorkload(fleet, { threads: THREADS, writers: 2, patienceMs: PATIENCE_MS });
  const endsAt = performance.now() + lengthMs;
  let done = 0;
  for (; done < order.length || performance.now() < endsAt; done++) {
    await pause(restMs());
    await nemeses[order[done % order.length] ?? "cut"](fleet, Math.random);
  }
  await pause(restMs());
  await workload.stop();
  const faults = await workload.faults();
  return { done, faults, workload };
}

/** One minute told in a line. */
function told({ done, faults, workload }: Awaited<ReturnType<typeof play>>): string {
  const { acknowledged, refused, cut } = workload;
  const kinds = ["lost", "doubled", "reordered", "phantom"].map((kind) => {
    const count = faults.filter((fault) => fault.startsWith(`${kind}: `)).length;
    return `${count} ${kind}`;
  });
  return `${acknowledged} acknowledged, ${kinds.join(", ")}, ${faults.length} faults in all; ${done} nemeses, ${refused} refused, ${cut} streams cut`;
}

test.concurrent(
  "under all nemeses nothing is lost, doubled, reordered or made up",
  { timeout: 3_600_000 },
  async () => {
    const fleet = await startFleet();
    if (!isFull) {
      const order = ["kill", "cut", "killRedis"] as const;
      const { faults, workload } = await play(fleet, { order, lengthMs: 0, restMs: () => 700 });
      expect(faults).toEqual([]);
      expect(workload.acknowledged).toBeGreaterThan(50);
    }
    let acknowledged = 0;
    let faultCount = 0;
    for (let minute = 1; minute <= MINUTES; minute++) {
      const order = Object.keys(nemeses) as (keyof typeof nemeses)[];
      const restMs = () => 4_000 + 4_000 * Math.random();
      const one = await play(fleet, { order, lengthMs: 60_000, restMs });
      console.log(`minute ${minute}: ${told(one)}`);
      expect.soft(one.faults).toEqual([]);
      acknowledged += one.workload.acknowledged;
      faultCount += one.faults.length;
    }
    if (isFull) console.log(`${MINUTES} minutes: ${acknowledged} acknowledged, ${faultCount} faults`);
    expect(acknowledged).toBeGreaterThanOrEqual(LEAST_PER_MINUTE * MINUTES);
    await fleet.close();
  },
);

/** What the controls say, and were acknowledged. */
const SAID = { threadId: "t1", userId: "u1", text: "hello" };
const SAID_UID = threadUid("cli", SAID.userId, SAID.threadId);
const APPENDED = { text: SAID.text, sentAtMs: 0, ackedAtMs: 1 };

describe("controls: the checker is alive, for it finds", () => {
  test.concurrent("what is lost where the service speaks before it saves", async () => {
    const fleet = await startFleet({ instances: 1, settings: { weakness: "says-before-saving" } });
    const speaker = mustHave(fleet.victims[0]);
    await new Promise<unknown>((onStatus) => {
      void ask(speaker.url, "/v1/messages", { headers: transportHeaders, body: SAID, onStatus });
    });
    await speaker.kill9();
    const history = await fleet.store.history(SAID_UID, { limit: 10, before: null });
    expect(historyFaults(history, [APPENDED], [])).toEqual([`lost: ${SAID.text}`]);
    await fleet.close();
  });

  test.concurrent("what is lost where Redis keeps nothing over a restart", async () => {
    const fleet = await startFleet({ redisArgs: ["--appendonly", "no"] });
    const workload = await startWorkload(fleet, { threads: 4, writers: 1 });
    await pause(700);
    const stopped = workload.stop();
    await nemeses.killRedis(fleet, Math.random);
    await stopped;
    expect(await workload.faults()).toContainEqual(expect.stringMatching(/^lost: /));
    await fleet.close();
  });

  test.concurrent("what is doubled where a stale owner is not fenced", async () => {
    const fleet = await startFleet({ settings: { weakness: "no-fence" } });
    const stale = mustHave(fleet.victims[0]);
    const load = () => fleet.store.load(SAID_UID, 1);
    fleet.model.hold(SAID.text);
    void ask(stale.url, "/v1/messages", { headers: transportHeaders, body: SAID });
    await fleet.model.held(SAID.text);
    const { fence } = mustHave((await load()) ?? undefined);
    // It is stopped; the other one takes its run and ends it; then it goes on where it was.
    stale.pause();
    await until(async () => (await load())?.fence !== fence);
    fleet.model.release(SAID.text);
    await fleet.settled([SAID_UID]);
    stale.resume();
    await until(async () => Number((await load())?.messageCount) > 2);
    const history = await fleet.store.history(SAID_UID, { limit: 10, before: null });
    expect(historyFaults(history, [APPENDED], [])).toContainEqual(expect.stringMatching(/^out of turn/));
    await fleet.close();
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(20);
}
