import type { Config } from "../config.ts";
import type { Model } from "../model.ts";
import { openOpenAi } from "../models/openai.ts";

/** Opens the model that the configuration names; with neither a key nor an address, the offline demo. */
export async function openModel({ openai, modelTimeoutMs }: Config): Promise<Model> {
  if (openai.apiKey !== null || openai.baseUrl !== null) {
    return openOpenAi({
      apiKey: openai.apiKey?.reveal() ?? null,
      baseUrl: openai.baseUrl,
      silenceMs: modelTimeoutMs,
    });
  }
  const { startDemoModel } = await import("../demo/model/demo-model.ts");
  const demo = await startDemoModel();
  const model = openOpenAi({ apiKey: null, baseUrl: demo.baseUrl, silenceMs: modelTimeoutMs, kind: "demo" });
  return {
    ...model,
    async close() {
      await model.close();
      await demo.close();
    },
  };
}
