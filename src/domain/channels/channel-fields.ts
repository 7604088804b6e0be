import { hoursFault } from "./hours.ts";
import { z } from "zod";
import type { Channel, McpProcessServer } from "./channel.ts";
import { everyMs } from "./knowledge.ts";
import { nearestName } from "../nearest-name.ts";
import { isOwnField } from "./model-body.ts";
import { messengerSchema } from "./messenger.ts";
import { variableName } from "./channel-variables.ts";
import { publishableHash, retiredKeysField } from "./retired-keys.ts";
import { withoutPrototypes } from "../name-map.ts";
import { WEBHOOK_EVENTS, withOlderSecrets } from "./webhook.ts";

/**
 * A channel as people write it, in CHANNELS_FILE and on the command line (contract, Channels), and what it makes of
 * the channel that the store has: the fields that are written win, the others stay.
 */
export const slugSchema = z
  .string()
  .regex(/^[a-z0-9_-]{1,64}$/, "must be 1 to 64 of a-z 0-9 - _")
  .max(64);

/** The greatest lengths of texts, in UTF-16 units, and of lists: what a channel holds is read with each of its messages. */
const LONGEST = {
  address: 2_048,
  /** A key, a token, a header's value. */
  secret: 8_192,
  name: 256,
  instructions: 100_000,
  bodyJson: 20_000,
  historyChars: 10_000_000,
  commandLine: 32_768,
} as const;
export const MOST = {
  servers: 32,
  headers: 64,
  tools: 512,
  origins: 1_000,
  parameters: 256,
  days: 36_500,
  sources: 100,
  patterns: 100,
  passages: 50,
  links: 100,
} as const;

const seconds = z.number().min(1).max(3_600);
const anyServer = {
  tools: z
    .strictObject({ allow: toolNames().exactOptional(), deny: toolNames().exactOptional() })
    .exactOptional(),
  timeouts: z
    .strictObject({ connectSeconds: seconds.exactOptional(), callSeconds: seconds.exactOptional() })
    .exactOptional(),
};

/** Whoever may see a channel sees its addresses: a secret in one would be everybody's. */
const httpAddress = z
  .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
  .max(LONGEST.address)
  .refine(
    (url) => !URL.canParse(url) || (new URL(url).username === "" && new URL(url).password === ""),
    "must have no user name and no password: put them into a header, as $NAME of a variable",
  );

const serviceOAuth = z.strictObject({
  clientId: z.string().min(1).max(LONGEST.secret),
  clientSecret: z.string().min(1).max(LONGEST.secret),
  // Required: else the MCP server would say who is given the secret.
  issuer: httpAddress,
  scope: z.string().min(1).max(LONGEST.secret).exactOptional(),
});

const visitorOAuth = z
  .strictObject({
    perUser: z.literal(true),
    clientId: z.string().min(1).max(LONGEST.secret).exactOptional(),
    clientSecret: z.string().min(1).max(LONGEST.secret).exactOptional(),
    issuer: httpAddress.exactOptional(),
    scope: z.string().min(1).max(LONGEST.secret).exactOptional(),
  })
  .refine(
    ({ clientId, clientSecret, issuer }) =>
      clientSecret === undefined || (clientId !== undefined && issuer !== undefined),
    "a clientSecret needs its clientId, and the issuer that alone is given it",
  );

const oauthSchema = z.union([serviceOAuth, visitorOAuth]);

const httpServer = z.strictObject({
  ...anyServer,
  identity: z.strictObject({ key: z.string().min(1).max(LONGEST.secret) }).exactOptional(),
  oauth: oauthSchema.exactOptional(),
  url: httpAddress,
  headers: z
    .record(z.string().max(LONGEST.name), z.string().max(LONGEST.secret))
    .refine(...atMost(MOST.headers, "headers"))
    .exactOptional(),
});

/** Arguments of a refinement: a map or list of at most so many. */
function atMost(count: number, what: string) {
  const fits = (named: object) => Object.keys(named).length <= count;
  return [fits, `must have at most ${count} ${what}`] as const;
}

function toolNames() {
  return z.array(z.string().max(LONGEST.name)).max(MOST.tools);
}

/** Each of the three is sent as the header `authorization`. */
function speaksOnce({ identity, oauth, headers = {} }: z.infer<typeof httpServer>): boolean {
  const isHeader = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return oauth === undefined || (identity === undefined && !isHeader);
}

const processServer = z.strictObject({
  ...anyServer,
  command: z.string().min(1).max(LONGEST.commandLine),
  args: z.array(z.string().max(LONGEST.commandLine)).max(MOST.parameters).exactOptional(),
  env: z
    .record(z.string().max(LONGEST.name), z.string().max(LONGEST.commandLine))
    .refine(...atMost(MOST.parameters, "variables"))
    .exactOptional(),
});

const modelBody = z
  .record(z.string().max(LONGEST.name), z.unknown())
  .refine((body) => JSON.stringify(body).length <= LONGEST.bodyJson, {
    error: `must have at most ${LONGEST.bodyJson} characters of JSON`,
  })
  .refine((body) => !Object.keys(body).some(isOwnField), {
    error: ({ input }) =>
      `must have no ${Object.keys(input ?? {})
        .filter(isOwnField)
        .join(", ")}: the service sends these itself, and reads one answer`,
  });

export const agentFields = z.strictObject({
  instructions: z.string().max(LONGEST.instructions).exactOptional(),
  model: z.string().min(1).max(LONGEST.name).exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  reasoningEffort: z.string().min(1).max(32).exactOptional(),
  body: modelBody.exactOptional(),
  images: z.boolean().exactOptional(),
  files: z.boolean().exactOptional(),
  imageAddresses: z.boolean().exactOptional(),
  whileRunning: z.enum(["queue", "steer", "interrupt"]).exactOptional(),
  tools: z
    .strictObject({
      confirm: z.array(z.string().min(1).max(LONGEST.name)).min(1).max(MOST.tools),
      by: z.enum(["visitor", "operator"]).exactOptional(),
    })
    .exactOptional(),
  mcpServers: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/)
        .max(64),
      z.union([
        httpServer.refine(speaksOnce, "oauth is sent as authorization, and leaves no place for another one"),
        processServer,
      ]),
    )
    .refine(...atMost(MOST.servers, "servers"))
    .exactOptional(),
  history: z
    .strictObject({
      maxChars: z.int().min(1).max(LONGEST.historyChars).exactOptional(),
      summary: z.boolean().exactOptional(),
      summaryModel: z.string().min(1).max(LONGEST.name).exactOptional(),
    })
    .exactOptional(),
  maxOutputTokensPerRun: z.int().min(1).exactOptional(),
  maxTokensPerUserPerDay: z.int().min(1).exactOptional(),
  maxTokensPerDay: z.int().min(1).exactOptional(),
});

/** The fields of `agent` alone, as a file of the command line has them. */
export const agentSchema = withoutPrototypes(agentFields);

const rangesSchema = z.array(z.string().max(11)).max(10);

const hoursSchema = z
  .strictObject({
    timeZone: z.string().max(64),
    week: z.strictObject({
      sun: rangesSchema.exactOptional(),
      mon: rangesSchema.exactOptional(),
      tue: rangesSchema.exactOptional(),
      wed: rangesSchema.exactOptional(),
      thu: rangesSchema.exactOptional(),
      fri: rangesSchema.exactOptional(),
      sat: rangesSchema.exactOptional(),
    }),
    holidays: z.array(z.string().max(10)).max(366).exactOptional(),
  })
  .superRefine((hours, context) => {
    const fault = hoursFault(hours);
    if (fault !== null) context.addIssue(fault);
  });

export const handoffSchema = z.strictObject({
  enabled: z.boolean(),
  waitSeconds: z.number().positive().max(86_400).exactOptional(),
  message: z.string().min(1).max(4_000).exactOptional(),
  unavailable: z.string().min(1).max(4_000).exactOptional(),
  answerSeconds: z.number().positive().max(86_400).exactOptional(),
  unanswered: z.string().min(1).max(4_000).exactOptional(),
  rating: z.boolean().exactOptional(),
  replies: z.array(z.string().min(1).max(4_000)).max(100).exactOptional(),
  hours: hoursSchema.exactOptional(),
  queues: z
    .array(z.string().min(1).max(50))
    .max(50)
    .refine((queues) => new Set(queues).size === queues.length, "the queues must differ")
    .exactOptional(),
});

export const daysSchema = z.number().positive().max(MOST.days);

/** A setting that is not there keeps its kind for good; `{}` keeps everything. */
export const retentionSchema = z.strictObject({
  threadsDays: daysSchema.exactOptional(),
  anonymousDays: daysSchema.exactOptional(),
});

const patterns = z.array(z.string().min(1).max(LONGEST.address)).max(MOST.patterns);
const diskPath = z.string().min(1).max(LONGEST.address);

export const knowledgeSourceSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 . _ -")
      .max(64),
    url: httpAddress.exactOptional(),
    sitemap: httpAddress.exactOptional(),
    folder: diskPath.exactOptional(),
    file: diskPath.exactOptional(),
    every: z
      .string()
      .max(16)
      .refine((text) => everyMs(text) !== null, "must be a time such as 30m, 24h or 7d, at most a year")
      .exactOptional(),
    depth: z.int().min(0).max(MOST.links).exactOptional(),
    include: patterns.exactOptional(),
    exclude: patterns.exactOptional(),
  })
  .refine(
    ({ url, sitemap, folder, file }) => [url, sitemap, folder, file].filter(Boolean).length === 1,
    "must have one of url, sitemap, folder and file",
  );

/** Without sources nothing is known; `{ "sources": [] }` takes the field away. */
export const knowledgeSchema = z.strictObject({
  sources: z
    .array(knowledgeSourceSchema)
    .max(MOST.sources)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "has a name twice"),
  embeddings: z.string().min(1).max(LONGEST.name).exactOptional(),
  passages: z.int().min(1).max(MOST.passages).exactOptional(),
  only: z.boolean().exactOptional(),
  index: z.literal("lancedb").exactOptional(),
});

/** 24 to 64 bytes in base64, as Standard Webhooks asks; or a variable that holds such a text. */
const webhookSecret = z
  .string()
  .max(LONGEST.name)
  .refine(
    (text) => variableName(text) !== null || /^whsec_[A-Za-z0-9+/]{16,128}={0,2}$/.test(text),
    "must be whsec_ and base64, or $NAME of a variable",
  );

const webhookSchema = z.strictObject({
  url: httpAddress,
  secret: webhookSecret,
  events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).exactOptional(),
  unreadMinutes: z.number().min(1).max(10_080).exactOptional(),
});

export const webhooksSchema = z
  .array(webhookSchema)
  .max(20)
  .refine((all) => new Set(all.map(({ url }) => url)).size === all.length, "has a url twice");

const originSchema = z
  .string()
  .max(LONGEST.name)
  .transform((text, context) => {
    const origin = originFrom(text);
    if (origin !== null) return origin;
    context.addIssue(
      `${JSON.stringify(text)} is no origin: scheme://host[:port] without a path, and never "null"`,
    );
    return z.NEVER;
  });

/** Why callers could not send this key; null if they can. A comma would end it in its header. */
export function secretKeyFault(key: string): string | null {
  if (!key.startsWith("sk_")) return "must start with sk_";
  if (/^sk_[\x21-\x2b\x2d-\x7e]+$/.test(key)) return null;
  return "must be sk_ and printable ASCII characters without spaces and commas";
}

const channelFields = z.strictObject({
  slug: slugSchema,
  kind: z.enum(["web", "transport"]).optional(),
  publishableKey: z
    .string()
    .max(LONGEST.name)
    .regex(/^pk_[\x21-\x7e]+$/, "must start with pk_ and hold no spaces")
    .optional(),
  secretKey: z
    .string()
    .max(LONGEST.name)
    .superRefine((text, context) => {
      const fault = variableName(text) === null ? secretKeyFault(text) : null;
      if (fault !== null) context.addIssue(`${fault}, or be $NAME of a variable`);
    })
    .optional(),
  allowedOrigins: z.array(originSchema).max(MOST.origins).optional(),
  enabled: z.boolean().optional(),
  accessMode: z.enum(["open", "whitelist"]).optional(),
  agent: agentFields.optional(),
  handoff: handoffSchema.optional(),
  webhooks: webhooksSchema.optional(),
  messenger: messengerSchema.nullable().optional(),
  retention: retentionSchema.optional(),
  knowledge: knowledgeSchema.optional(),
});

export const channelFieldsSchema = withoutPrototypes(channelFields);

export type ChannelFields = z.infer<typeof channelFieldsSchema>;

/** The fields with the secret key resolved and hashed. */
export type WrittenFields = Omit<ChannelFields, "secretKey"> & { secretKeyHash?: string };

/**
 * The ASCII form in which browsers send an origin; null where the text is none. What says the same in other letters
 * (upper case, a Unicode host, a default port, a trailing slash) is taken for what it means.
 */
export function originFrom(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const bare = url.pathname.length <= 1 && url.search === "" && url.hash === "" && !/[?#@]/.test(text);
  // A star would be taken for a pattern, and matches nothing.
  if (!bare || url.host === "" || text.includes("*")) return null;
  // Browser extensions and app shells have origins of their own schemes, which URL does not tell.
  return url.origin === "null" ? `${url.protocol}//${url.host}` : url.origin;
}

/**
 * The channel that the written fields make of the stored one. `nowMs`: when an older secret of a webhook begins to end.
 * Throws where a new channel lacks what it cannot do without. */
export function applyFields(stored: Channel | null, written: WrittenFields, nowMs: number): Channel {
  const { slug } = written;
  const kind = written.kind ?? stored?.kind;
  if (kind === undefined) throw new Error(`channel ${slug} is new and needs a kind, web or transport`);

  const handoff = written.handoff ?? stored?.handoff;
  const webhooks = written.webhooks
    ? withOlderSecrets(stored?.webhooks ?? [], written.webhooks, nowMs)
    : (stored?.webhooks ?? []);
  const messenger = messengerOf(stored, written);
  const retention = written.retention ?? stored?.retention ?? {};
  const knowledge = written.knowledge ?? stored?.knowledge ?? { sources: [] };
  const before = stored?.kind === kind ? stored : null;
  const common = {
    slug,
    kind,
    enabled: written.enabled ?? stored?.enabled ?? true,
    accessMode: written.accessMode ?? stored?.accessMode ?? "open",
    agent: splitAgent(written.agent ?? stored?.agent ?? {}).kept,
    ...(handoff === undefined ? {} : { handoff }),
    ...(webhooks.length === 0 ? {} : { webhooks }),
    ...(messenger === undefined ? {} : { messenger }),
    ...(Object.keys(retention).length === 0 ? {} : { retention }),
    ...(knowledge.sources.length === 0 ? {} : { knowledge }),
  };
  if (kind === "web" && messenger !== undefined)
    throw new Error(`channel ${slug} is a web channel and has no messenger`);
  if (kind === "transport") {
    const extra = (["publishableKey", "secretKeyHash", "allowedOrigins"] as const).find(
      (name) => written[name] !== undefined,
    );
    if (extra !== undefined) {
      throw new Error(`channel ${slug} is a transport channel and has no ${extra.replace("Hash", "")}`);
    }
    const retired = retiredKeysField(stored, null);
    return { ...common, ...retired, publishableKey: null, secretKeyHash: null, allowedOrigins: [] };
  }

  const publishableKey = written.publishableKey ?? before?.publishableKey ?? null;
  if (publishableKey === null)
    throw new Error(`channel ${slug} is a new web channel and needs a publishableKey`);
  return {
    ...common,
    publishableKey,
    secretKeyHash: written.secretKeyHash ?? before?.secretKeyHash ?? null,
    ...(before?.olderKeys === undefined ? {} : { olderKeys: before.olderKeys }),
    ...retiredKeysField(stored, publishableKey),
    allowedOrigins: [...new Set(written.allowedOrigins ?? before?.allowedOrigins ?? [])],
  };
}

/** null takes it away. */
function messengerOf(stored: Channel | null, { messenger }: WrittenFields): Channel["messenger"] {
  return messenger === undefined ? stored?.messenger : (messenger ?? undefined);
}

/** Fields that differ, by the names that people write. */
export function changedFields(stored: Channel, next: Channel): string[] {
  const names = [
    "kind",
    "publishableKey",
    "secretKeyHash",
    "allowedOrigins",
    "enabled",
    "accessMode",
    "agent",
    "handoff",
    "webhooks",
    "messenger",
    "retention",
    "knowledge",
  ] as const;
  return names
    .filter((name) => canonical(stored[name]) !== canonical(next[name]))
    .map((name) => (name === "secretKeyHash" ? "secretKey" : name));
}

/** Who starts a process decides what runs on this machine: such servers stay with the file that names them. */
export function splitAgent(agent: Channel["agent"]): {
  kept: Channel["agent"];
  processes: Record<string, McpProcessServer>;
} {
  const { mcpServers, ...rest } = agent;
  if (mcpServers === undefined) return { kept: rest, processes: {} };
  const processes: Record<string, McpProcessServer> = {};
  const remote: NonNullable<Channel["agent"]["mcpServers"]> = {};
  for (const [name, server] of Object.entries(mcpServers)) {
    if ("command" in server) processes[name] = server;
    else remote[name] = server;
  }
  return { kept: Object.keys(remote).length > 0 ? { ...rest, mcpServers: remote } : rest, processes };
}

/**
 * Two channels of one publishable key, be it that one of them had it once: a visitor's request could not tell them apart.
 * Null where there are none.
 */
export function sharedKey(channels: readonly Channel[]): [string, string] | null {
  const owners = new Map<string, string>();
  for (const { slug, publishableKey, olderKeys = [], retiredKeys = [] } of channels) {
    const keys = [publishableKey, ...olderKeys.map((older) => older.publishableKey)];
    const hashes = keys.filter((key) => key !== null).map(publishableHash);
    for (const one of [...hashes, ...retiredKeys]) {
      const owner = owners.get(one);
      if (owner !== undefined && owner !== slug) return [owner, slug];
      owners.set(one, slug);
    }
  }
  return null;
}

/** A schema's complaint as one line: `channels[0].slug must be …`. With the schema it says which field was probably meant. */
export function complaint(error: z.ZodError, schema?: z.ZodType): string {
  const [issue] = error.issues;
  if (issue === undefined) return "it does not match the schema";
  const path = issue.path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("");
  const meant =
    schema !== undefined && issue.code === "unrecognized_keys"
      ? issue.keys.flatMap((key) => nearestName(key, fieldNames(schema)) ?? [])
      : [];
  const hint = meant.length === 0 ? "" : `; did you mean ${meant.map((name) => `"${name}"`).join(", ")}?`;
  return `${path.replace(/^\./, "") || "it"}: ${issue.message}${hint}`;
}

/** Every field's name, however deep. */
function fieldNames(schema: z.ZodType): Set<string> {
  const names = new Set<string>();
  JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), (key, value: unknown) => {
    if (key === "properties" && typeof value === "object" && value !== null) {
      for (const name of Object.keys(value)) names.add(name);
    }
    return value;
  });
  return names;
}

/** Are two values the same as JSON, whatever the order of their keys? */
export function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

/** JSON with sorted keys: the store need not keep their order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
