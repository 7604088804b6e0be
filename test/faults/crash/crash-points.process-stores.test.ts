// For src/threads/, src/stores/
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startMcpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import type { McpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import { embeddedGround, redisGround } from "./crash-case.ts";
import type { CrashGround } from "./crash-case.ts";
import { CRASH_MODES } from "./crash-store.ts";
import type { CrashPoint } from "./crash-store.ts";
import { startEchoModel } from "../victims/echo-model.ts";
import type { EchoModel } from "../victims/echo-model.ts";
import { atOnce } from "../../support/at-once.ts";
import { isFull } from "../lengths.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Scenario } from "./scenarios.ts";
import { killVictims } from "../victims/victims.ts";

/**
 * P1, P8, P9, P10: a process dies, or loses the answer, at each change that a scenario makes. After it, everything that
 * was acknowledged is in the history once, no reply is doubled, the threads are of use, and the store is in order.
 */
const PLAYS_AT_ONCE = 4;

/** More changes than any scenario makes: one that goes on for so long does not end. */
const MOST_CHANGES = 40;

/** One point of each kind for the suite. */
const SAMPLE: Record<CrashGround["name"], [string, CrashPoint][]> = {
  embedded: [
    ["a plain message", { at: 2, mode: "after" }],
    ["a page tool, answered", { at: 6, mode: "before" }],
    ["identify, merged", { at: 8, mode: "after" }],
    ["a person is asked for, answers, and gives the thread back", { at: 6, mode: "after" }],
  ],
  redis: [
    ["two queued messages", { at: 4, mode: "before" }],
    ["three page tools", { at: 5, mode: "after" }],
    ["a server-side tool", { at: 3, mode: "answer-lost" }],
    ["a person takes a run that goes on", { at: 4, mode: "after" }],
  ],
};

describe.each(inject("stores"))("a process that dies, on the %s store", (kind) => {
  let model: EchoModel;
  let tools: McpHttpServer;
  let ground: CrashGround;
  let deaths = 0;

  beforeAll(async () => {
    model = await startEchoModel();
    tools = await startMcpHttpServer([[{ name: "clock", inputSchema: { type: "object" } }]]);
    const parts = { model, settings: { mcpUrl: tools.url, people: true } };
    ground = kind === "embedded" ? embeddedGround(parts) : await redisGround(parts);
  });

  afterAll(async () => {
    await killVictims();
    await tools.close();
    await model.close();
  });

  async function play(scenario: Scenario, point: CrashPoint): Promise<boolean> {
    const { reached, faults } = await ground.play(scenario, point);
    expect(faults, `${scenario.name}, ${point.mode} change ${point.at}`).toEqual([]);
    if (reached) deaths += 1;
    return reached;
  }

  async function playEveryChange(scenario: Scenario, mode: CrashPoint["mode"]): Promise<void> {
    for (let at = 1; await play(scenario, { at, mode }); at++) expect(at).toBeLessThan(MOST_CHANGES);
  }

  test.runIf(isFull)("at every change of every scenario, in every mode", { timeout: 3_600_000 }, async () => {
    const chosen = new RegExp(process.env["FAULTS_SCENARIO"] ?? "", "u");
    const scenarios = SCENARIOS.filter(({ name }) => chosen.test(name));
    const plays = scenarios.flatMap((scenario) => CRASH_MODES.map((mode) => ({ scenario, mode })));
    await atOnce(PLAYS_AT_ONCE, plays, ({ scenario, mode }) => playEveryChange(scenario, mode));
    console.log(`${deaths} deaths and lost answers on ${kind}`);
    expect(await ground.remove()).toEqual([]);
  });

  test.skipIf(isFull)("at one change of each kind", async () => {
    await atOnce(PLAYS_AT_ONCE, SAMPLE[kind], async ([name, point]) => {
      const scenario = SCENARIOS.find((one) => one.name === name);
      if (!scenario) throw new Error(`Cannot play ${name}: no such scenario`);
      expect(await play(scenario, point), `${name} has a change ${point.at}`).toBe(true);
    });
    expect(await ground.remove()).toEqual([]);
  });
});
