import { readFile } from "node:fs/promises";
import { z } from "zod";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config.ts";
import { complaint } from "../domain/channels/channel-fields.ts";
import { parseJson } from "./parse-json.ts";
import { variableName } from "../domain/channels/channel-variables.ts";
import { withoutPrototypes } from "../domain/name-map.ts";
import { messageOf } from "../errors.ts";
import { pricesSchema } from "../domain/prices.ts";
import { PROFILE_NAMES } from "../models/refusals/profiles.ts";
import type { ProfileName } from "../models/refusals/profiles.ts";
import { defaultWay } from "../models/openai.ts";
import { WAYS } from "../models/way.ts";
import type { WayName } from "../models/way.ts";
import type { Prices } from "../model.ts";
import { Secret } from "../secret.ts";

/**
 * PROVIDERS_FILE: the model servers, and names for chains of models. Without it the OPENAI_… variables are the only
 * provider, called `openai`; without those the offline demo is.
 */
export interface WrittenProvider {
  name: string;
  apiKey: Secret | null;
  /** null: OpenAI's own. */
  baseUrl: string | null;
  headers: Record<string, Secret>;
  body: Record<string, unknown>;
  /** How its server is asked; absent: by its address. */
  api?: WayName;
  /** Its server's row in models/refusals/profiles.ts; absent: by its address. */
  profile?: ProfileName;
  /** Asked by a provider package of the AI SDK instead of an address. */
  package?: { package: string; create?: string; settings: WrittenSettings };
  quirks: {
    tools?: boolean;
    systemRole?: boolean;
    images?: boolean;
    streamUsage?: boolean;
    maxTokensField?: "max_tokens" | "max_completion_tokens";
    thinking?: "tags" | "open";
    textCalls?: boolean;
  };
}

export interface WrittenProviders {
  /** Empty: the offline demo. */
  providers: WrittenProvider[];
  /** Chains by name: names of models, PROVIDER/MODEL. */
  models: ReadonlyMap<string, readonly string[]>;
  /** For channels that name no model. */
  defaultModel: string;
  /** Absent: the file has none. */
  prices?: Prices;
  isFile: boolean;
}

/** Settings of a package; the values of variables are secret. */
export type WrittenSettings =
  | Secret
  | string
  | number
  | boolean
  | null
  | readonly WrittenSettings[]
  | { readonly [name: string]: WrittenSettings };

const text = z.string().min(1);
/** No slash: one separates it from the model's name. */
const PROVIDER_NAME = /^[A-Za-z0-9._-]{1,64}$/;

const providerSchema = z.strictObject({
  apiKey: text.exactOptional(),
  baseUrl: z.url({ protocol: /^https?$/, error: "must be an http:// or https:// address" }).exactOptional(),
  headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/, "must be a header's name"), text).exactOptional(),
  body: z.record(z.string(), z.unknown()).exactOptional(),
  package: z
    .string()
    .regex(/^(@[a-z0-9._-]+\/)?[a-z0-9._-]+$/i, "must be the name of a package of npm")
    .max(214)
    .exactOptional(),
  create: z.string().min(1).max(256).exactOptional(),
  settings: z.record(z.string(), z.json()).exactOptional(),
  api: z.enum(WAYS).exactOptional(),
  profile: z.enum(PROFILE_NAMES).exactOptional(),
  tools: z.boolean().exactOptional(),
  systemRole: z.boolean().exactOptional(),
  images: z.boolean().exactOptional(),
  streamUsage: z.boolean().exactOptional(),
  maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).exactOptional(),
  thinking: z.enum(["tags", "open"]).exactOptional(),
  textCalls: z.boolean().exactOptional(),
});

const fileSchema = withoutPrototypes(
  z.strictObject({
    providers: z
      .record(z.string(), providerSchema)
      .refine((providers) => Object.keys(providers).length > 0, "must name at least one provider"),
    models: z.record(text, z.union([text, z.array(text).min(1)])).exactOptional(),
    prices: pricesSchema.exactOptional(),
  }),
);

/** The providers of this configuration. Throws ConfigError with one line. */
export async function readProviders(
  config: Pick<Config, "providersFile" | "openai">,
  variable: (name: string) => Secret | null,
): Promise<WrittenProviders> {
  const { providersFile: path, openai } = config;
  if (path === null) return withoutFile(openai);
  try {
    return parseProviders(await readFile(path, "utf8"), variable, openai.model);
  } catch (error) {
    throw new ConfigError(`Cannot read PROVIDERS_FILE ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function withoutFile({ apiKey, baseUrl, model, api }: Config["openai"]): WrittenProviders {
  const isDemo = apiKey === null && baseUrl === null;
  const ofApi = api === null ? {} : { api };
  const only = { name: "openai", apiKey, baseUrl, ...ofApi, headers: {}, body: {}, quirks: {} };
  return { providers: isDemo ? [] : [only], models: new Map(), defaultModel: model, isFile: false };
}

/** Parses the text of a PROVIDERS_FILE. Throws an Error whose message is one line. */
export function parseProviders(
  file: string,
  variable: (name: string) => Secret | null,
  openAiModel: string,
): WrittenProviders {
  const parsed = fileSchema.safeParse(parseJson(file));
  if (!parsed.success) throw new Error(complaint(parsed.error, fileSchema));
  const providers = Object.entries(parsed.data.providers).map(([name, fields]): WrittenProvider => {
    if (!PROVIDER_NAME.test(name)) {
      throw new Error(`${JSON.stringify(name)}: a provider's name is 1 to 64 of A-Z a-z 0-9 . _ -`);
    }
    const { apiKey, baseUrl = null, headers = {}, body = {}, api, profile, ...others } = fields;
    const { package: packageName, create, settings, ...quirks } = others;
    if (packageName === undefined && (create !== undefined || settings !== undefined))
      throw new Error(`provider ${name} has ${create === undefined ? "settings" : "create"}, and no package`);
    if (packageName !== undefined) return ofPackage(name, fields, variable);
    refuseOtherWays(name, { api: api ?? defaultWay(baseUrl), isWritten: api !== undefined }, quirks);
    const resolve = (field: string, value: string) =>
      resolved(`provider ${name} takes its ${field}`, value, variable);
    return {
      name,
      apiKey: apiKey === undefined ? null : resolve("apiKey", apiKey),
      baseUrl,
      headers: Object.fromEntries(
        Object.entries(headers).map(([header, value]) => [header, resolve(`header ${header}`, value)]),
      ),
      body,
      ...(api === undefined ? {} : { api }),
      ...(profile === undefined ? {} : { profile }),
      quirks,
    };
  });
  const models = new Map(
    Object.entries(parsed.data.models ?? {}).map(([name, members]) => [name, [members].flat()]),
  );
  const { prices } = parsed.data;
  const written = {
    providers,
    models,
    ...(prices ? { prices } : {}),
    defaultModel: models.has("default") ? "default" : openAiModel,
    isFile: true,
  };
  for (const [name, members] of models) {
    for (const member of members) {
      if (memberOf(written, member) === null)
        throw new Error(`model ${name} names ${member}, and there is no such provider`);
    }
  }
  for (const priced of Object.keys(prices?.perMillionTokens ?? {})) {
    const member = memberOf(written, priced);
    if (member === null || `${member.provider}/${member.model}` !== priced)
      throw new Error(`prices name ${priced}, and there is no such provider: write PROVIDER/MODEL`);
  }
  if (membersOf(written, written.defaultModel) === null) {
    throw new Error(
      "models.default is missing: with several providers it says who answers where a channel names no model",
    );
  }
  return written;
}

/** What a package takes besides its settings. */
const OF_PACKAGE = new Set(["package", "create", "settings", "body", "tools", "images"]);

function ofPackage(
  name: string,
  fields: z.infer<typeof providerSchema>,
  variable: (name: string) => Secret | null,
): WrittenProvider {
  const { package: packageName = "", create, settings = {}, body = {}, tools, images } = fields;
  const other = Object.keys(fields).find((field) => !OF_PACKAGE.has(field));
  if (other !== undefined)
    throw new Error(
      `provider ${name} has ${other}, which a package does not take: write it as ${packageName} has it, into settings`,
    );
  const withSecrets = (value: z.core.util.JSONType): WrittenSettings => {
    if (typeof value === "string" && variableName(value) !== null)
      return resolved(`provider ${name} takes its settings`, value, variable);
    if (Array.isArray(value)) return value.map(withSecrets);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withSecrets(each)]));
  };
  return {
    name,
    apiKey: null,
    baseUrl: null,
    headers: {},
    body,
    package: {
      package: packageName,
      ...(create === undefined ? {} : { create }),
      settings: withSecrets(settings),
    },
    quirks: { ...(tools === undefined ? {} : { tools }), ...(images === undefined ? {} : { images }) },
  };
}

/** Settings of chat completions alone. */
const OF_CHAT = ["maxTokensField", "streamUsage", "textCalls", "thinking"] as const;

function refuseOtherWays(
  name: string,
  { api, isWritten }: { api: WayName; isWritten: boolean },
  quirks: WrittenProvider["quirks"],
): void {
  const field = OF_CHAT.find((each) => each in quirks);
  if (api === "chat" || field === undefined) return;
  const why = isWritten ? "is asked by responses" : "is OpenAI's own, and asked by responses";
  throw new Error(
    `provider ${name} has ${field}, which only chat completions have, and ${why}: leave it out, or write "api": "chat"`,
  );
}

/** The models for a name, which is a name of `models`, PROVIDER/MODEL, or a model of the only provider. null: none. */
export function membersOf(
  written: Pick<WrittenProviders, "providers" | "models" | "isFile">,
  name: string,
): { provider: string; model: string }[] | null {
  const chain = written.models.get(name) ?? [name];
  const members = chain.map((each) => memberOf(written, each));
  return members.some((member) => member === null) ? null : members.filter((member) => member !== null);
}

function memberOf({ providers, isFile }: Pick<WrittenProviders, "providers" | "isFile">, name: string) {
  const slash = name.indexOf("/");
  const provider = providers.find((each) => each.name === name.slice(0, Math.max(slash, 0)));
  // With the variables' only provider, every name is a model: some servers' names have slashes.
  if (isFile && provider && slash < name.length - 1)
    return { provider: provider.name, model: name.slice(slash + 1) };
  const [only] = providers;
  return only && providers.length === 1 ? { provider: only.name, model: name } : null;
}

/** The secrets that the log must hide. */
export function secretsOfProviders({ providers }: WrittenProviders): Secret[] {
  return providers.flatMap(({ apiKey, headers, package: ofPackage }) => [
    ...(apiKey ? [apiKey] : []),
    ...Object.values(headers),
    ...secretsIn(ofPackage?.settings ?? null),
  ]);
}

function secretsIn(settings: WrittenSettings): Secret[] {
  if (settings instanceof Secret) return [settings];
  return typeof settings === "object" && settings !== null ? Object.values(settings).flatMap(secretsIn) : [];
}

/** The settings as the package gets them. */
export function revealed(settings: WrittenSettings): unknown {
  if (settings instanceof Secret) return settings.reveal();
  if (Array.isArray(settings)) return settings.map(revealed);
  if (typeof settings !== "object" || settings === null) return settings;
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, revealed(value)]));
}

function resolved(what: string, value: string, variable: (name: string) => Secret | null): Secret {
  const name = variableName(value);
  const secret = name === null ? new Secret(value) : variable(name);
  if (secret === null) throw new Error(`${what} from ${name}, which is unset`);
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(secret.reveal()))
    throw new Error(`${what}${name === null ? "" : ` from ${name}`}, which a header cannot carry`);
  return secret;
}
