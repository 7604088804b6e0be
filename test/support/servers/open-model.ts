import { onTestFinished } from "vitest";
import type { Model, ModelRequest, ModelTurn } from "../../../src/model.ts";
import { openOpenAi } from "../../../src/models/openai.ts";
import { startModelServer } from "./model-server.ts";
import type { ModelServer, Script } from "./model-server.ts";

/** A key that must never be seen again outside the authorization header. */
export const CANARY_KEY = "sk-canary-7f3a9c";

export const plainRequest: ModelRequest = {
  model: "scripted",
  messages: [{ role: "user", content: "Hello" }],
  tools: [],
  maxOutputTokens: null,
  traceparent: null,
};

/** Between the tries of a model no time passes. */
export const noPause = () => Promise.resolve();

interface ScriptedModel {
  server: ModelServer;
  model: Model;
}

/** The real model client on a scripted server. */
export async function openModelOn(
  script?: Script,
  options: { silenceMs?: number } = {},
): Promise<ScriptedModel & { close: () => Promise<void> }> {
  const server = await startModelServer(script);
  const model = openOpenAi({
    apiKey: CANARY_KEY,
    baseUrl: server.baseUrl,
    silenceMs: options.silenceMs ?? 30_000,
    pause: noPause,
  });
  return {
    server,
    model,
    async close() {
      await model.close();
      await server.close();
    },
  };
}

/** The same, closed when the test is over. */
export async function openScriptedModel(
  script?: Script,
  options: { silenceMs?: number } = {},
): Promise<ScriptedModel> {
  const { close, ...opened } = await openModelOn(script, options);
  onTestFinished(close);
  return opened;
}

/** One turn, with what `wrote` was given. `turn` may reject. */
export function startTurn(
  model: Model,
  options: { request?: Partial<ModelRequest>; signal?: AbortSignal } = {},
): { turn: Promise<ModelTurn>; written: string[] } {
  const written: string[] = [];
  const request = { ...plainRequest, ...options.request };
  const signal = options.signal ?? new AbortController().signal;
  const turn = model.stream(request, (text) => void written.push(text), signal);
  // Some tests look at it later; an early rejection is no stray one.
  turn.catch(() => {});
  return { turn, written };
}
