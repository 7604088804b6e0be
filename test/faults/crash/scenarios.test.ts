// For test/faults/
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { openOpenAi } from "../../../src/models/openai.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { startMcpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { ROOMY_LIMITS, startTestService } from "../../support/servers/service.ts";
import { answerFaults, ROUTES } from "../flaky/answer-faults.ts";
import { startEchoModel } from "../victims/echo-model.ts";
import { allowHandOff, TRANSPORT_KEY, writeChannels } from "../fault-channels.ts";
import { faultsAfter } from "./faults-after.ts";
import { createPlay } from "./play.ts";
import { SCENARIOS } from "./scenarios.ts";

test("a control: where nothing goes wrong the scenarios ask every route of both APIs, and nothing is wrong", async () => {
  const tools = await startMcpHttpServer([[{ name: "clock", inputSchema: { type: "object" } }]]);
  onTestFinished(() => tools.close());
  const echo = await startEchoModel();
  onTestFinished(() => echo.close());
  const model = openOpenAi({ apiKey: null, baseUrl: echo.baseUrl, silenceMs: 30_000 });
  onTestFinished(() => model.close());

  async function serve(env: Record<string, string>) {
    const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock: systemClock });
    onTestFinished(() => store.close());
    await writeChannels(store, tools.url);
    await allowHandOff(store);
    const given = { harnessApiKey: TRANSPORT_KEY, store, model, channels: [] };
    return startTestService({ ...given, env: { ...ROOMY_LIMITS, MCP_PRIVATE: "on", ...env } });
  }

  const common = await serve({});
  const faults: string[] = [];
  const routes = new Set<string>();
  for (const scenario of SCENARIOS) {
    const { url, store } = scenario.env ? await serve(scenario.env) : common;
    const play = createPlay({ url: () => url, model: echo, store });
    await scenario.act(play);
    const wrong = [...(await faultsAfter(play, store)), ...play.exchanges.flatMap(answerFaults)];
    faults.push(...wrong.map((fault) => `${scenario.name}: ${fault}`));
    for (const { route } of play.exchanges) routes.add(route);
  }
  expect(faults).toEqual([]);
  expect([...routes].toSorted()).toEqual(ROUTES.toSorted());
});
