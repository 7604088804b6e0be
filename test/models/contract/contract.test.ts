// For src/model.ts, src/models/openai.ts, src/models/exchange/, src/models/reply/, src/models/request/,
// src/models/responses/, src/models/way.ts
import { systemClock } from "../../../src/clock.ts";
import { openPackage } from "../../../src/models/packages/open-package.ts";
import { openProviders } from "../../../src/models/providers.ts";
import { call, startModelServer } from "../../support/servers/model-server.ts";
import { noPause } from "../../support/servers/open-model.ts";
import { openDemoModel } from "../../demo/open-demo-model.ts";
import { describeModel } from "./contract.ts";
import { closeWithTest, read } from "./far-end.ts";
import { playOpenAi, playResponses } from "./play-openai.ts";

const tools = [
  { name: "clock", description: "Tells the time", parameters: { type: "object", properties: {} } },
];
const usage = { type: "usage", usage: { input: 12, output: 3 } } as const;

describeModel("an OpenAI-compatible server", {
  kind: "openai",
  play: playOpenAi,
  async answering(what) {
    const called = { type: "call", name: "clock", arguments: "{}" } as const;
    const { model } = await playOpenAi([
      what === "call" ? [called, usage] : [read("Hel"), read("lo"), usage],
    ]);
    return { model, request: {} };
  },
});

describeModel("a server of the Responses API", {
  kind: "openai",
  play: playResponses,
  async answering(what) {
    const called = { type: "call", name: "clock", arguments: "{}" } as const;
    const acts = what === "call" ? [called, usage] : [read("Hel"), read("lo"), usage];
    const { model } = await playResponses([acts]);
    return { model, request: {} };
  },
});

describeModel("a package of the AI SDK", {
  kind: "openai",
  play: null,
  async answering(what) {
    const server = await startModelServer([what === "call" ? [call("clock")] : "Hello to you"]);
    const provider = await openPackage({
      name: "local",
      package: "@ai-sdk/openai-compatible",
      settings: { name: "local", baseURL: server.baseUrl, includeUsage: true },
      silenceMs: 600_000,
      pause: noPause,
    });
    const model = openProviders({
      kind: "openai",
      providers: [provider],
      names: { membersOf: () => [{ provider: "local", model: "m" }], defaultModel: "m" },
      clock: systemClock,
      log: { warn() {}, info() {} },
      onCall() {},
    });
    closeWithTest(model, server);
    return { model, request: what === "call" ? { tools } : {} };
  },
});

describeModel("the demo model", {
  kind: "demo",
  play: null,
  async answering(what) {
    const messages = [{ role: "user" as const, content: "What time is it?" }];
    return { model: await openDemoModel(), request: what === "call" ? { tools, messages } : {} };
  },
});
