// For src/model.ts, src/models/openai.ts, src/models/exchange/, src/models/reply/, src/models/request/,
// src/models/responses/, src/models/way.ts
import { openDemoModel } from "../demo/open-demo-model.ts";
import { describeModel } from "./contract.ts";
import { read } from "./far-end.ts";
import { playOpenAi, playResponses } from "./play-openai.ts";

const tools = [
  { name: "clock", description: "Tells the time", parameters: { type: "object", properties: {} } },
];
const usage = { type: "usage", usage: { input: 12, output: 3 } } as const;

describeModel("an OpenAI-compatible server", {
  kind: "openai",
  play: playOpenAi,
  async answering(what) {
    const call = { type: "call", name: "clock", arguments: "{}" } as const;
    const { model } = await playOpenAi([what === "call" ? [call, usage] : [read("Hel"), read("lo"), usage]]);
    return { model, request: {} };
  },
});

describeModel("a server of the Responses API", {
  kind: "openai",
  play: playResponses,
  async answering(what) {
    const call = { type: "call", name: "clock", arguments: "{}" } as const;
    const acts = what === "call" ? [call, usage] : [read("Hel"), read("lo"), usage];
    const { model } = await playResponses([acts]);
    return { model, request: {} };
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
