import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { threadUid } from "../../src/domain/thread-uid.ts";
import { ask, transportHeaders } from "./client.ts";
import { mustHave, startFleet } from "./fleet.ts";
import { historyFaults } from "./history-check.ts";
import { isFull } from "./lengths.ts";
import { nemeses } from "./nemeses.ts";
import type { Nemesis } from "./nemeses.ts";
import { randomFrom } from "./random.ts";
import { killVictims } from "./victims.ts";
import { startWorkload } from "./workload.ts";

/** P1, P5, P6, P31: many clients write through two instances on one Redis, while everything around them is torn down. */
const MINUTES = 10;
const LEAST_ACKNOWLEDGED = 50_000;
const THREADS = isFull ? 40 : 8;

afterAll(() => killVictims());

test.concurrent(
  "under all nemeses nothing is lost, doubled, reordered or made up",
  { timeout: 3_600_000 },
  async () => {
    const fleet = await startFleet();
    const workload = await startWorkload(fleet, { threads: THREADS, writers: 2 });
    const random = randomFrom(Date.now());
    const endsAt = performance.now() + MINUTES * 60_000;
    const all: Nemesis[] = Object.values(nemeses);
    let done = 0;
    if (isFull) {
      for (; performance.now() < endsAt; done++) {
        await pause(2_000 + 3_000 * random());
        await (all[Math.floor(random() * all.length)] ?? nemeses.cut)(fleet, random);
      }
    } else {
      for (const nemesis of [nemeses.kill, nemeses.cut, nemeses.killRedis]) {
        await pause(700);
        await nemesis(fleet, random);
      }
      await pause(700);
    }
    await workload.stop();
    const faults = await workload.faults();
    const { acknowledged, refused, cut } = workload;
    if (isFull)
      console.log(
        `${done} faults, ${acknowledged} messages acknowledged, ${refused} refused, ${cut} streams cut`,
      );
    expect(faults).toEqual([]);
    expect(acknowledged).toBeGreaterThan(isFull ? LEAST_ACKNOWLEDGED : 50);
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
