// For src/threads/, src/http/
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Clock } from "../../../src/clock.ts";
import type { Model } from "../../../src/model.ts";
import { openOpenAi } from "../../../src/models/openai.ts";
import type { Store } from "../../../src/store.ts";
import { startMcpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import type { McpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import { openTestService, ROOMY_LIMITS } from "../../support/servers/service.ts";
import { answerFaults } from "./answer-faults.ts";
import { startEchoModel } from "../victims/echo-model.ts";
import type { EchoModel } from "../victims/echo-model.ts";
import { allowHandOff, TRANSPORT_KEY, writeChannels } from "../fault-channels.ts";
import { faultsAfter } from "../crash/faults-after.ts";
import { embeddedGround, redisGround } from "./flaky-ground.ts";
import type { FlakyGround } from "./flaky-ground.ts";
import { makeFlaky } from "./flaky-store.ts";
import { isFull, lengthOf } from "../lengths.ts";
import { Broken, createPlay } from "../crash/play.ts";
import type { Play } from "../crash/play.ts";
import { SCENARIOS } from "../crash/scenarios.ts";
import type { Scenario } from "../crash/scenarios.ts";

const ROUNDS = lengthOf("FAULTS_ROUNDS", { short: 2, full: 100 });
const RATE = 0.1;

/** Time that passes five times as fast for whoever looks for lost runs; timers keep their pace. */
const hastyClock: Clock = { now: () => systemClock.now(), elapsed: () => systemClock.elapsed() * 5 };

const GROUNDS: Record<"embedded" | "redis", [string, () => Promise<FlakyGround>]> = {
  embedded: ["one instance on the embedded store", embeddedGround],
  redis: ["two instances on Redis", redisGround],
};

describe(`P1, P24, P30: a store of which every ${1 / RATE}th call goes wrong`, () => {
  let echo: EchoModel;
  let tools: McpHttpServer;
  let model: Model;

  beforeAll(async () => {
    echo = await startEchoModel();
    tools = await startMcpHttpServer([[{ name: "clock", inputSchema: { type: "object" } }]]);
    model = openOpenAi({ apiKey: null, baseUrl: echo.baseUrl, silenceMs: 30_000 });
  });

  afterAll(async () => {
    await model.close();
    await tools.close();
    await echo.close();
  });

  test.each(inject("stores").map((kind) => GROUNDS[kind]))(
    "%s: every answer is one of the contract's, nothing acknowledged is lost, and all is well when it stops",
    { timeout: 3_600_000 },
    async (_name, openGround) => {
      let faults: Record<string, number> = {};
      let asked: Record<string, number> = {};
      for (let seed = 1; seed <= ROUNDS; seed++) {
        const told = await round(await openGround(), seed);
        expect(told.complaints, `seed ${seed}`).toEqual([]);
        faults = total([faults, ...told.faults]);
        asked = total([asked, ...told.routes.map((route) => ({ [route]: 1 }))]);
      }
      if (isFull) console.log(`faults: ${JSON.stringify(faults)}; requests: ${JSON.stringify(asked)}`);
    },
  );

  async function round(ground: FlakyGround, seed: number) {
    const [look] = ground.stores;
    if (!look) throw new Error("Cannot play: no store");
    await writeChannels(look, tools.url);
    await allowHandOff(look);
    const flaky = ground.stores.map((store, index) => makeFlaky(store, 2 * seed + index));
    const services = await Promise.all(flaky.map(({ store }) => serve(store)));

    const rate = (share: number) => flaky.forEach((store) => store.setRate(share));
    let asks = 0;
    const url = () => services[asks++ % services.length]?.url ?? "";
    const plays = SCENARIOS.map((scenario) => ({
      scenario,
      play: createPlay({ url, model: echo, store: look }),
    }));
    rate(RATE);
    await Promise.all(plays.map(act));
    rate(0);
    const complaints = await Promise.all(
      plays.map(async ({ scenario, play }) => {
        const wrong = [...(await faultsAfter(play, look)), ...play.exchanges.flatMap(answerFaults)];
        return wrong.map((fault) => `${scenario.name}: ${fault}`);
      }),
    );
    await Promise.all(services.map((service) => service.stop(5_000)));
    const errors = services.flatMap(({ logged }) => logged.filter((line) => line.includes('"level":50')));
    return {
      complaints: [
        ...complaints.flat(),
        ...(await ground.close()),
        // An outage is told as one; whatever else is an error of ours.
        ...errors.filter((line) => !line.includes("the store does not answer")),
      ],
      faults: flaky.map((store) => store.faults),
      routes: plays.flatMap(({ play }) => play.exchanges.map(({ route }) => route)),
    };
  }

  function serve(store: Store) {
    const env = { ...ROOMY_LIMITS, MCP_PRIVATE: "on", TOOL_RESULT_TIMEOUT_SECONDS: "1" };
    return openTestService({
      env,
      harnessApiKey: TRANSPORT_KEY,
      store,
      model,
      clock: hastyClock,
      channels: [],
    });
  }
});

/** As far as it goes: what is refused ends a scenario, and is judged by itself. */
async function act({ scenario, play }: { scenario: Scenario; play: Play }): Promise<void> {
  try {
    await scenario.act(play);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
  }
}

function total(counts: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [kind, count] of counts.flatMap(Object.entries<number>)) sums[kind] = (sums[kind] ?? 0) + count;
  return sums;
}
