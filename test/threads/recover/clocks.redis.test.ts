// For src/threads/store-clock.ts, src/threads/recover/
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { answers, readerOf, says, textOfLines } from "../instance.ts";
import type { Instance, InstanceOptions } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";
import type { TwoInstances } from "../on-instances.ts";
import { pageCall } from "../scripted-agent.ts";

const HOUR_MS = 3_600_000;

/** The time of day of a process, which an operator or a bad NTP server may set; durations are monotonic. */
function settableClock() {
  const set = { byMs: 0 };
  return { set, clock: { now: () => Date.now() + set.byMs, elapsed: () => performance.now() } };
}

/** Before each step, the clock of one of the two jumps. */
const jumps = fc.array(fc.record({ whose: fc.nat(1), ms: fc.constantFrom(-HOUR_MS, 0, HOUR_MS) }), {
  minLength: 6,
  maxLength: 6,
});

const terminals = (lines: readonly Line[]) => lines.filter(isTerminal).map(({ type }) => type);

describe("P27: two instances on one Redis whose clocks jump by an hour", () => {
  let stores: TwoInstances["stores"];
  let clocks: [ReturnType<typeof settableClock>, ReturnType<typeof settableClock>];
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances(
    (two) => ({ stores, a, b } = two),
    () => {
      clocks = [settableClock(), settableClock()];
      return clocks.map(({ clock }) => ({ clock, hasStoreTime: true })) as [InstanceOptions, InstanceOptions];
    },
  );

  it("between any steps of a conversation: one terminal line a stream, all kept once, in order of time", async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(jumps, async (jumping) => {
        const uid = `t${++count}`;
        const jump = () => {
          const { whose = 0, ms = 0 } = jumping.shift() ?? {};
          const one = clocks[whose];
          if (one !== undefined) one.set.byMs += ms;
        };
        jump();
        const first = readerOf(await a.threads.say(says(uid, "A mug")));
        const turn = await a.agent.turn();
        jump();
        turn.write("One moment");
        turn.call(pageCall("c1"));
        expect(terminals(await first.all)).toEqual(["tool_call"]);
        jump();
        const second = readerOf(await b.threads.answer(answers(uid, "c1", "One mug")));
        const next = await b.agent.turn();
        jump();
        next.write(": there it is");
        next.finish();
        expect(terminals(await second.all)).toEqual(["done"]);
        jump();
        const third = readerOf(await a.threads.say(says(uid, "Thanks")));
        const last = await a.agent.turn();
        jump();
        last.write("Gladly");
        last.finish();
        const lines = await third.all;
        expect([terminals(lines), textOfLines(lines)]).toEqual([["done"], "Gladly"]);

        const history = await stores[1].history(uid, { limit: 100, before: null });
        const said = history.map(({ content }) => content);
        expect(said).toEqual(["A mug", "One moment: there it is", "Thanks", "Gladly"]);
        const times = history.map(({ createdAtMs }) => createdAtMs);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
      }),
      { numRuns: 40 },
    );
    expect([...a.complaints, ...b.complaints]).toEqual([]);
  });

  it("F1: a call that one has set is no later for another whose clock is an hour ahead", async () => {
    clocks[1].set.byMs = HOUR_MS;
    const first = readerOf(await a.threads.say(says("t1", "A mug")));
    (await a.agent.turn()).call(pageCall("c1"));
    expect(terminals(await first.all)).toEqual(["tool_call"]);
    // Whoever reads the stream ends a call that is over, as the sweep does.
    const again = readerOf(await b.threads.follow("t1").then((reply) => reply ?? expect.fail("no run")));
    expect(terminals(await again.all)).toEqual(["tool_call"]);
    const second = readerOf(await b.threads.answer(answers("t1", "c1")));
    (await b.agent.turn()).finish();
    const ended = await second.all;
    expect(terminals(ended)).toEqual(["done"]);
    // A run that two of them have made took as long as it took.
    const [done] = ended.filter(isTerminal);
    expect(done?.type === "done" && done.elapsedMs).toBeLessThan(HOUR_MS / 2);
  });
});

describe("P27: a clock that is an hour ahead", () => {
  let stores: TwoInstances["stores"];
  let a: Instance;
  let b: Instance;
  const limits = { toolResultTimeoutMs: 1 };
  const ahead = {
    hasStoreTime: true,
    clock: { now: () => Date.now() + HOUR_MS, elapsed: () => performance.now() },
  };
  eachOnTwoInstances(
    (two) => ({ stores, a, b } = two),
    () => [{ limits }, { limits, ...ahead }],
  );

  it("does not keep a call from expiring: once, and the thread is free", async () => {
    const first = readerOf(await b.threads.say(says("t1", "A mug")));
    (await b.agent.turn()).call(pageCall("c1"));
    expect(terminals(await first.all)).toEqual(["tool_call"]);
    // Whichever of the two looks for it (each looks at its share of all threads).
    await expect.poll(async () => (await stores[0].load("t1", 0))?.state, { timeout: 60_000 }).toBe("idle");
    await expect(a.threads.answer(answers("t1", "c1"))).rejects.toThrow(Refusal);
    const second = readerOf(await a.threads.say(says("t1", "Still there?")));
    (await a.agent.turn()).finish();
    expect(terminals(await second.all)).toEqual(["done"]);
  });
});
