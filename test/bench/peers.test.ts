// For bench/peers/
import { expect, test } from "vitest";
import { enter, inTurns } from "../../bench/peers/field.ts";
import type { Entrant, Results } from "../../bench/peers/field.ts";
import { sectionOf } from "../../bench/peers/section-of.ts";
import type { Subject } from "../../bench/peers/subject.ts";
import type { Measured } from "../../bench/rig/load.ts";
import { markdownOf } from "../../bench/rig/section.ts";

function entrant(name: string, { why = "", onStop = () => {} } = {}): Entrant {
  const asking = { port: 0, request: () => ({ bytes: "", isFirst: () => true }), textOf: () => "" };
  const subject: Subject = { pids: () => [], asking: () => asking, stop: async () => onStop() };
  return { name, subject: why === "" ? subject : null, why };
}

function measured(perSecond: number, cpuMs: number, first: number): Measured {
  return { messages: 1, perSecond, cpuMs, firstMs: [first], totalMs: [first] };
}

test("who cannot start takes no part, and says why", async () => {
  const absent = await enter("Mastra", () => Promise.reject(new Error("Cannot start:\nno | port")));
  expect(absent).toEqual({ name: "Mastra", subject: null, why: "Cannot start: no / port" });
});

test("who fails in its turn is stopped and left out, and the others go on", async () => {
  let stops = 0;
  const good = entrant("good");
  const bad = entrant("bad", { onStop: () => (stops += 1) });
  const failing = bad.subject;
  const asked: string[] = [];
  const results = await inTurns([bad, good], 3, async (one) => {
    asked.push(one === failing ? "bad" : "good");
    if (one === failing && asked.length > 2) throw new Error("Cannot use the measurement: status 500");
    return asked.length;
  });
  expect(asked).toEqual(["bad", "good", "bad", "good", "good"]);
  expect([...results]).toEqual([[good, [2, 4, 5]]]);
  expect(stops).toBe(1);
  expect(bad).toMatchObject({ subject: null, why: "Cannot use the measurement: status 500" });
});

test("the section compares repeat by repeat, and names what was missed and what was not measured", () => {
  const itself = entrant("the model itself");
  const service = entrant("**this service**");
  const byHand = entrant("by hand, Node 24");
  const mastra = entrant("Mastra", { why: "it does not start" });
  const results: Results<Measured> = new Map([
    [itself, [measured(9_000, 0.03, 20), measured(9_000, 0.03, 22)]],
    [service, [measured(1_000, 0.6, 24), measured(1_200, 0.6, 26)]],
    [byHand, [measured(2_000, 1, 30), measured(1_200, 1, 32)]],
  ]);
  const text = markdownOf(
    sectionOf({
      itself,
      service,
      field: [service, byHand, mastra],
      burst: results,
      spaced: results,
      slow: results,
      idleMb: new Map(),
      afterMb: new Map(),
    }),
  );
  expect(text).toContain("| Mastra | not measured: it does not start |");
  expect(text).toContain(
    "- **missed**: 64 users, burst: at least 0.9× the messages a second of by hand, Node 24: 0.750 (0.500–1.00)×",
  );
  expect(text).toContain("- not measured: 64 users, burst: at least 40× the messages a second of Mastra: –");
  expect(text).toContain(
    "- met: 256 users, 20 ms: at most 0.85× the CPU of by hand, Node 24: 0.600 (0.600–0.600)×",
  );
  for (const cell of ["256 users, 20 ms", "500 slow streams, 200 ms"]) {
    const says = "the first text comes no later after the model's own than that of by hand, Node 24 (p50)";
    expect(text).toContain(`- met: ${cell}: ${says}: 0.400 (0.400–0.400)×`);
  }
});
