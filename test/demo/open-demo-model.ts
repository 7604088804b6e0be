import { onTestFinished } from "vitest";
import { startDemoModel } from "../../src/demo/model/demo-model.ts";
import type { Model } from "../../src/model.ts";
import { openOpenAi } from "../../src/models/openai.ts";

/** The demo model, and the client that the service speaks to it with; both end with the test. */
export async function openDemoModel(): Promise<Model> {
  const demo = await startDemoModel();
  const model = openOpenAi({ apiKey: null, baseUrl: demo.baseUrl, silenceMs: 30_000, kind: "demo" });
  onTestFinished(async () => {
    await model.close();
    await demo.close();
  });
  return model;
}
