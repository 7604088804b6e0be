import { systemClock } from "../clock.ts";
import type { Config } from "../config.ts";
import { readVariable } from "../config.ts";
import { membersOf, readProviders, revealed } from "./providers-file.ts";
import type { WrittenProvider, WrittenProviders } from "./providers-file.ts";
import type { PlainLog } from "../log.ts";
import type { Model } from "../model.ts";
import { openProvider } from "../models/openai.ts";
import type { OpenAiOptions, Provider } from "../models/openai.ts";
import { isRecord } from "../is-record.ts";
import { ConfigError } from "../config/config-error.ts";
import { messageOf } from "../errors.ts";
import { openProviders } from "../models/providers.ts";
import type { ProvidersOptions } from "../models/providers.ts";

export interface ModelDependencies {
  /** The providers as already read; absent: read now. */
  written?: WrittenProviders;
  log?: Pick<PlainLog, "warn" | "info">;
  onCall?: ProvidersOptions["onCall"];
  onOdd?: NonNullable<OpenAiOptions["onOdd"]>;
  tracing?: NonNullable<ProvidersOptions["tracing"]>;
}

/** Opens the models that the configuration names; with no provider, or MODEL=demo, the offline demo. */
export async function openModel(config: Config, dependencies: ModelDependencies = {}): Promise<Model> {
  const {
    written = await readProviders(config, readVariable),
    log = { warn() {}, info() {} },
    onCall = () => {},
    onOdd = () => {},
  } = dependencies;
  const traced = dependencies.tracing ? { tracing: dependencies.tracing } : {};
  const { modelTimeoutMs: silenceMs } = config;
  if (config.isDemoModel || written.providers.length === 0)
    return openDemo(silenceMs, { log, onCall, ...traced });
  return openProviders({
    kind: "openai",
    providers: await Promise.all(
      written.providers.map(async (provider) =>
        provider.package
          ? await openPackaged(provider, provider.package, { silenceMs, log })
          : openProvider({ ...optionsOf(provider, silenceMs), log, onOdd }),
      ),
    ),
    names: {
      membersOf: (name) => membersOf(written, name),
      defaultModel: written.defaultModel,
      members: [written.defaultModel, ...written.models.keys()].flatMap(
        (name) => membersOf(written, name) ?? [],
      ),
    },
    clock: systemClock,
    log,
    onCall,
    ...(written.prices ? { prices: written.prices } : {}),
    ...traced,
  });
}

function optionsOf({ apiKey, headers, ...provider }: WrittenProvider, silenceMs: number): OpenAiOptions {
  const { name, baseUrl, body, quirks, api, profile } = provider;
  return {
    name,
    apiKey: apiKey?.reveal() ?? null,
    baseUrl,
    silenceMs,
    headers: Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, value.reveal()])),
    body,
    quirks,
    ...(api === undefined ? {} : { api }),
    ...(profile === undefined ? {} : { profile }),
  };
}

/** Its code is loaded where a provider has a package, and nowhere else. */
async function openPackaged(
  { name, body, quirks }: WrittenProvider,
  { settings, ...written }: NonNullable<WrittenProvider["package"]>,
  given: { silenceMs: number; log: Pick<PlainLog, "warn"> },
): Promise<Provider> {
  const { openPackage } = await import("../models/packages/open-package.ts");
  const plain = revealed(settings);
  try {
    return await openPackage({
      ...written,
      ...given,
      name,
      body,
      quirks,
      settings: isRecord(plain) ? plain : {},
    });
  } catch (error) {
    throw new ConfigError(`Cannot open the provider ${name} of PROVIDERS_FILE: it ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** The demo's chain: its first model always fails, so the next one answers. Any other name is the demo itself. */
const DEMO_CHAIN = "demo-chain";

async function openDemo(
  silenceMs: number,
  asked: Pick<ProvidersOptions, "log" | "onCall" | "tracing">,
): Promise<Model> {
  const { startDemoModel } = await import("../demo/model/demo-model.ts");
  const demo = await startDemoModel();
  const at = (name: string, baseUrl: string) =>
    openProvider({ name, apiKey: null, baseUrl, silenceMs, kind: "demo" });
  const chain = [
    { provider: "demo-busy", model: "demo" },
    { provider: "demo", model: "demo" },
  ];
  const {
    defaultModel: _,
    ways: __,
    ...model
  } = openProviders({
    kind: "demo",
    providers: [at("demo", demo.baseUrl), at("demo-busy", demo.busyUrl)],
    names: {
      membersOf: (name) => (name === DEMO_CHAIN ? chain : [{ provider: "demo", model: name }]),
      defaultModel: "demo",
    },
    clock: systemClock,
    ...asked,
  });
  return {
    ...model,
    answers: ["demo"],
    async close() {
      await model.close();
      await demo.close();
    },
  };
}
