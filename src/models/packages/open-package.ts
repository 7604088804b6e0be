import { APIConnectionError } from "openai";
import { systemClock } from "../../clock.ts";
import type { PlainLog } from "../../log.ts";
import { ModelFault } from "../../model.ts";
import { cutOff, fellSilent, isSilence } from "../faults.ts";
import { mustFit } from "../embeddings.ts";
import type { Embed } from "../embeddings.ts";
import { isRecord } from "../../is-record.ts";
import { providerOver } from "../openai.ts";
import type { Provider } from "../openai.ts";
import { ErrorAnswer } from "../refusals/error-answer.ts";
import { createKnownQuirks } from "../refusals/known-quirks.ts";
import type { Quirks } from "../refusals/quirks.ts";
import type { Exchange } from "../refusals/stream-learning.ts";
import { chatWay } from "../way.ts";
import type { Pause } from "../with-retries.ts";
import { callOptions } from "./call-options.ts";
import { loadPackage } from "./load-package.ts";
import type { ModelOf, PackageModels, PackageOptions } from "./load-package.ts";
import { readParts } from "./read-parts.ts";

export interface PackageProviderOptions extends PackageOptions {
  /** Its name in model names and in the history. */
  name: string;
  /** Longest time between two parts of an answer, and before the first. */
  silenceMs: number;
  /** Further settings of each request, and options of the provider. */
  body?: Record<string, unknown>;
  /** What the settings say that it does not take. */
  quirks?: Partial<Quirks>;
  pause?: Pause;
  log?: Pick<PlainLog, "warn">;
}

/** A provider package of the AI SDK as a provider. Throws an Error whose message is one line, with what to install. */
export async function openPackage(options: PackageProviderOptions): Promise<Provider> {
  const { name, body = {}, quirks = {}, log = { warn() {} } } = options;
  const { modelOf, embeddingModelOf } = await loadPackage(options);
  const closed = new AbortController();
  const connection = {
    name,
    way: chatWay,
    exchange: exchangeWith(modelOf, { ...options, log, closed: closed.signal }),
    body,
    quirks: createKnownQuirks(quirks, { provider: name, clock: systemClock }),
    profile: null,
    log,
    odd: () => {},
  };
  const { pause } = options;
  const close = () => Promise.resolve(closed.abort(cutOff(new Error("The model is closed"))));
  const embed = embedWith(embeddingModelOf, closed.signal);
  return providerOver(connection, { way: options.package, pause, close, embed });
}

function embedWith(embeddingModelOf: PackageModels["embeddingModelOf"], closed: AbortSignal): Embed {
  return async (name, texts, signal) => {
    const model = embeddingModelOf(name);
    if (model === null) throw new ModelFault("The provider has no such embeddings model");
    const most = await model.maxEmbeddingsPerCall;
    const atOnce = typeof most === "number" && most > 0 ? most : texts.length;
    const ended = AbortSignal.any([signal, closed]);
    const embeddings: number[][] = [];
    for (let at = 0; at < texts.length; at += atOnce) {
      const asking = model.doEmbed({ values: texts.slice(at, at + atOnce), abortSignal: ended });
      const answer = await untilAborted(asking, ended).catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new ModelFault("The embeddings model does not answer", { cause });
      });
      embeddings.push(...answer.embeddings);
    }
    return mustFit(embeddings, texts);
  };
}

function exchangeWith(
  modelOf: ModelOf,
  {
    name,
    silenceMs,
    log,
    closed,
  }: Pick<PackageProviderOptions, "name" | "silenceMs"> & {
    log: Pick<PlainLog, "warn">;
    closed: AbortSignal;
  },
): Exchange {
  /** Warnings of a provider that were told: each once. */
  const told = new Set<string>();

  function tell(model: string, warnings: readonly unknown[]): void {
    for (const warning of warnings) {
      const fields = isRecord(warning) ? warning : {};
      const what = [fields["type"], fields["feature"] ?? fields["setting"] ?? fields["details"]].join(" ");
      if (told.has(`${model} ${what}`)) continue;
      told.add(`${model} ${what}`);
      log.warn({ model: `${name}/${model}`, warning: what }, "a package does not apply a part of a request");
    }
  }

  return async (body, { signal, traceparent }, { wrote, sent }) => {
    const model = modelOf(body.model);
    const over = new AbortController();
    const silence = setTimeout(() => over.abort(fellSilent()), silenceMs);
    const ended = AbortSignal.any([signal, over.signal, closed]);
    let hasBegun = false;
    try {
      const options = callOptions(body, model, { signal: ended, traceparent });
      const { stream } = await untilAborted(model.doStream(options), ended);
      hasBegun = true;
      const reading = readParts(stream, {
        wrote,
        sent,
        signal: ended,
        heard: () => silence.refresh(),
        warned: (warnings) => tell(body.model, warnings),
      });
      return await untilAborted(reading, ended);
    } catch (error) {
      const reason: unknown = ended.aborted && !signal.aborted ? ended.reason : error;
      sent.isRefused = !hasBegun && !signal.aborted && !isSilence(reason);
      throw faultOf(reason);
    } finally {
      clearTimeout(silence);
      // Whoever is not done is not read any further.
      over.abort();
    }
  };
}

/** A provider may not listen to the signal. */
async function untilAborted<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
  aborted.catch(() => {});
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Errors of the AI SDK carry the status and the body of their server's answer (`AI_APICallError`); without a status the
 * server was not reached. Others stay as they are: a provider that cannot say something in its server's form.
 */
function faultOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ModelFault) return error;
  const { statusCode, responseBody, responseHeaders, isRetryable } = error as unknown as Record<
    string,
    unknown
  >;
  if (typeof statusCode === "number" && statusCode >= 300) {
    const headers = isRecord(responseHeaders)
      ? Object.entries(responseHeaders).map(([key, value]) => [key, String(value)])
      : [];
    const body = typeof responseBody === "string" ? responseBody : "";
    return new ErrorAnswer({ status: statusCode, headers: new Headers(headers as [string, string][]) }, body);
  }
  if (isRetryable === true || error.name === "TypeError") return new APIConnectionError({ cause: error });
  return error.name.startsWith("AI_")
    ? new ModelFault("The model cannot be asked this", { cause: error })
    : error;
}
