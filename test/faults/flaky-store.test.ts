import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Clock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import type { Model } from "../../src/model.ts";
import { openModel } from "../../src/models/openai.ts";
import { startService } from "../../src/service.ts";
import { startMcpHttpServer } from "../agent/mcp-http-server.ts";
import type { McpHttpServer } from "../agent/mcp-http-server.ts";
import { dumpEmbedded } from "../stores/dump-embedded.ts";
import { checkInvariants } from "../stores/invariants.ts";
import { temporaryFolder } from "../support/data-dir.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { startEchoModel } from "./echo-model.ts";
import type { EchoModel } from "./echo-model.ts";
import { TRANSPORT_KEY, writeChannels } from "./fault-channels.ts";
import { faultsAfter } from "./faults-after.ts";
import { makeFlaky } from "./flaky-store.ts";
import { isFull } from "./lengths.ts";
import { Broken, createPlay } from "./play.ts";
import { SCENARIOS } from "./scenarios.ts";

const ROUNDS = isFull ? 100 : 3;
const RATE = 0.1;

/** What the contract has for a store that is away, and for a result that came too late. */
const ALLOWED = [200, 409, 503];

/** Time that passes five times as fast for whoever looks for lost runs; timers keep their pace. */
const hastyClock: Clock = { now: () => systemClock.now(), elapsed: () => systemClock.elapsed() * 5 };

describe(`P1, P24, P30: a store of which every ${1 / RATE}th call goes wrong`, () => {
  let echo: EchoModel;
  let tools: McpHttpServer;
  let model: Model;

  beforeAll(async () => {
    echo = await startEchoModel();
    tools = await startMcpHttpServer([[{ name: "clock", inputSchema: { type: "object" } }]]);
    model = openModel({ apiKey: null, baseUrl: echo.baseUrl, silenceMs: 30_000 });
  });

  afterAll(async () => {
    await model.close();
    await tools.close();
    await echo.close();
  });

  test(
    "every answer is one of the contract's, nothing acknowledged is lost, and all is well when it stops",
    { timeout: 3_600_000 },
    async () => {
      const told: Record<string, number> = {};
      for (let seed = 1; seed <= ROUNDS; seed++) {
        const complaints = await round(seed, told);
        expect(complaints, `seed ${seed}`).toEqual([]);
      }
      if (isFull) console.log(`faults injected: ${JSON.stringify(told)}`);
    },
  );

  async function round(seed: number, told: Record<string, number>): Promise<string[]> {
    const dataDir = temporaryFolder();
    const store = await openEmbeddedStore({ dataDir, clock: systemClock });
    await writeChannels(store, tools.url);
    const flaky = makeFlaky(store, seed);
    const config = { ...readConfig({ TOOL_RESULT_TIMEOUT_SECONDS: "1" }), port: 0 };
    for (const limit of Object.keys(config.limits) as (keyof typeof config.limits)[]) {
      if (limit.includes("Per")) config.limits[limit] = 1_000_000;
    }
    const errors: string[] = [];
    const destination = { write: (line: string) => void (line.includes('"level":50') && errors.push(line)) };
    const log = createLog({ level: "error", secrets: [], destination });
    const service = await startService({
      config,
      harnessApiKey: TRANSPORT_KEY,
      store: flaky.store,
      model,
      clock: hastyClock,
      log,
    });

    flaky.setRate(RATE);
    const complaints: string[] = [];
    const plays = SCENARIOS.map((scenario) => ({
      scenario,
      play: createPlay({ url: service.url, model: echo, store }),
    }));
    await Promise.all(
      plays.map(async ({ scenario, play }) => {
        try {
          await scenario.act(play);
        } catch (error) {
          if (!(error instanceof Broken)) throw error;
          if (!ALLOWED.includes(error.status ?? 0)) complaints.push(`${scenario.name}: ${error.message}`);
        }
      }),
    );
    flaky.setRate(0);
    await Promise.all(
      plays.map(async ({ scenario, play }) => {
        const faults = await faultsAfter(play, store);
        complaints.push(...faults.map((fault) => `${scenario.name}: ${fault}`));
      }),
    );
    await service.stop(5_000);
    await store.close();
    complaints.push(...checkInvariants(await dumpEmbedded(dataDir)));
    // An outage is told as one; whatever else is an error of ours.
    complaints.push(...errors.filter((line) => !line.includes("the store does not answer")));
    for (const [fault, count] of Object.entries(flaky.faults)) told[fault] = (told[fault] ?? 0) + count;
    return complaints;
  }
});
