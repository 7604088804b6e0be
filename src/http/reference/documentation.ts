import { z } from "zod";
import type { RefusalReason } from "../../domain/refusal.ts";
import type { Credentials, Endpoint, QueryField } from "../endpoint.ts";
import { callerId, channelSlug } from "../fields.ts";
import { statusOf } from "../route.ts";
import type { AnswerDocumentation, Documentation, Field, RouteApi } from "../route.ts";
import { documentedEmpty } from "./shared-documentation.ts";

/** What an endpoint's declaration says to its callers: its fields, its answers, and the refusals that follow from it. */

type Descriptions = Partial<Record<RefusalReason, string>>;

/** The API of an endpoint, by its credential. */
export const API_OF: Readonly<Record<Credentials, RouteApi>> = {
  transportKey: "server",
  secretKey: "server",
  operatorKey: "operator",
  publishableKey: "widget",
  visitorToken: "widget",
  origin: "widget",
  none: "open",
};

const WIDGET: Descriptions = {
  unauthorized: "Missing, unknown or expired x-visitor-token: create a new visitor",
  forbidden: "Origin not allowed, channel disabled, visitor not allowed, or address blocked",
  "not-found": "The thread does not exist or belongs to another visitor",
  "too-large": "Over a limit: the body's length, the text, the customerContext or the catalog",
  "unsupported-encoding": "The body has a content-encoding",
  invalid: "The request does not match the schema",
  "rate-limited": "A rate limit was exceeded",
  unavailable: "The store cannot be reached",
};

const SERVER: Descriptions = {
  unauthorized: "Wrong or missing key",
  forbidden:
    "The user is not allowed: blocked, not whitelisted in whitelist mode, or the channel is disabled",
  "too-large": "The body is longer than SERVER_MAX_BODY_BYTES",
  "unsupported-encoding": "The body has a content-encoding",
  invalid: "The body does not match the schema",
  "rate-limited": "rate-limited",
  unavailable: "The store cannot be reached",
};

const OPERATOR: Descriptions = {
  ...SERVER,
  forbidden: "The operator's role or channels do not allow it",
  "rate-limited": "Too many wrong keys came from this address",
};

const DESCRIPTIONS: Record<RouteApi, Descriptions> = {
  server: SERVER,
  operator: OPERATOR,
  widget: WIDGET,
  open: {},
};

/** Why a request may be refused before its body is looked at. Where a key is asked for, wrong ones are counted. */
const BY_CREDENTIAL: Record<Credentials, readonly RefusalReason[]> = {
  transportKey: ["unauthorized", "not-found", "too-large", "rate-limited", "unavailable"],
  secretKey: ["unauthorized", "not-found", "too-large", "rate-limited", "unavailable"],
  operatorKey: ["unauthorized", "forbidden", "too-large", "rate-limited", "unavailable"],
  publishableKey: ["unauthorized", "forbidden", "too-large", "rate-limited", "unavailable"],
  visitorToken: ["unauthorized", "forbidden", "too-large", "unavailable"],
  origin: ["forbidden", "too-large"],
  none: [],
};

function impliedBy(endpoint: Endpoint): RefusalReason[] {
  const { credential, path, body, finds, rate = null, query = {} } = endpoint;
  const isOfChannel = credential === "operatorKey" && path.includes("/:slug");
  const mayBeInvalid = body || namesOwner(endpoint) || Object.values(query).some(({ schema }) => schema);
  return [
    ...BY_CREDENTIAL[credential],
    ...(finds !== undefined || isOfChannel ? ["not-found" as const] : []),
    ...(finds === "speakersThread" ? ["forbidden" as const] : []),
    ...(rate === null ? [] : ["rate-limited" as const]),
    ...(body ? ["unsupported-encoding" as const] : []),
    ...(mayBeInvalid ? ["invalid" as const] : []),
  ];
}

/** Words for what is not there, and other ones where the credential or the lack of a body has its own. */
function wordsFor({ credential, path, body, finds }: Endpoint): Descriptions {
  const words: Descriptions = { ...DESCRIPTIONS[API_OF[credential]] };
  if (!body && API_OF[credential] !== "widget") words.invalid = "The query does not match the schema";
  switch (credential) {
    case "transportKey":
      words["not-found"] =
        finds === "speakersThread" ? "Unknown channel, user or thread" : `Unknown ${finds ?? "channel"}`;
      break;
    case "secretKey":
      words.unauthorized = "Wrong secret key, or not a web channel";
      words["not-found"] = "Unknown channel";
      break;
    case "operatorKey":
      words["not-found"] = path.includes("/:id")
        ? "Unknown channel or thread"
        : path.includes("/:userId")
          ? "Unknown channel or user"
          : "Unknown channel";
      break;
    case "publishableKey":
      words.unauthorized = "Unknown publishable key";
      break;
    case "visitorToken":
    case "origin":
    case "none":
  }
  return words;
}

export function documentationOf(endpoint: Endpoint): Documentation {
  const { credential, summary, body, answers, refusals = {}, query = {} } = endpoint;
  const api = API_OF[credential];
  const words = { ...wordsFor(endpoint), ...refusals };
  // A cast: TypeScript types the keys of any object as strings.
  const reasons = new Set([...impliedBy(endpoint), ...(Object.keys(refusals) as RefusalReason[])]);
  return {
    summary,
    description: describedFor(endpoint),
    credential: credential === "origin" || credential === "none" ? null : credential,
    params: paramsOf(endpoint),
    query: { ...(namesOwner(endpoint) ? OWNER_FIELDS : {}), ...mapped(query, fieldOf) },
    headers: { ...(api === "widget" ? ORIGIN_HEADER : {}), ...endpoint.headers },
    body: body
      ? { schema: body.schema, example: body.example, ...(body.read ? { isFile: true } : {}) }
      : null,
    answers: {
      ...mapped(answers, (answer) => (typeof answer === "string" ? documentedEmpty(answer) : answer)),
      ...Object.fromEntries(
        [...reasons].map((reason) => [statusOf(reason), refusalOf(reason, words[reason] ?? reason, api)]),
      ),
    },
  };
}

function describedFor({ description, roles, scope }: Endpoint): string {
  if (!roles) return description;
  const limited = scope === "installation" ? ", not limited to channels" : "";
  return `${description}${description === "" ? "" : " "}For: ${roles.join(", ")}${limited}.`;
}

/** A refusal has one short line of text, except 403 and 503, and on the widget API. */
function refusalOf(reason: RefusalReason, description: string, api: RouteApi): AnswerDocumentation {
  const waits = reason === "rate-limited" || reason === "unavailable";
  const isEmpty = api === "widget" || reason === "forbidden" || reason === "unavailable";
  return {
    description,
    headers: waits ? { "retry-after": "Whole seconds until it is worth asking again" } : {},
    body: isEmpty
      ? null
      : {
          type: "text/plain; charset=utf-8",
          schema: z.string(),
          example: reason === "unauthorized" ? "Unauthorized" : description,
        },
  };
}

function fieldOf({ description, example, schema = z.string(), shown = schema, required }: QueryField): Field {
  return { description, schema: shown, required: required ?? false, example };
}

/** Does its query name a user, and the user's channel? */
function namesOwner({ credential, finds }: Endpoint): boolean {
  return credential === "transportKey" && (finds === "user" || finds === "thread");
}

const OWNER_FIELDS: Record<string, Field> = {
  userId: {
    description: "The user's id in the caller's system, within the channel",
    schema: callerId,
    required: true,
    example: "ada",
  },
  channel: {
    description: "Channel slug",
    schema: channelSlug.default("cli"),
    required: false,
    example: "cli",
  },
};

/** The Origin header that browsers send by themselves. */
const ORIGIN_HEADER: Record<string, Field> = {
  origin: {
    description: "Set by the browser; one of the channel's allowed origins",
    schema: z.string(),
    required: true,
    example: "https://shop.example",
  },
};

/** What the `:names` of an API's paths are. */
const PARAMS: Partial<Record<RouteApi, Record<string, Field>>> = {
  server: {
    threadId: param(
      "The caller's own conversation id, or the id of a thread that began in the widget",
      "chat-1",
      callerId,
    ),
    slug: param("Channel slug", "shop"),
  },
  widget: {
    id: param("A thread of this visitor", "bkQmzpTqyiWfXH2uJ3dVxw"),
    threadId: param("A thread of this visitor", "bkQmzpTqyiWfXH2uJ3dVxw"),
  },
  operator: {
    slug: param("Channel slug", "shop"),
    id: param("The service's id of the thread", "bkQmzpTqyiWfXH2uJ3dVxw"),
    userId: param("The service's id of the user, or the caller's", "account-7", callerId),
    name: param("The operator's name", "ada"),
    address: param("As the list shows it, in any spelling", "192.0.2.0/24"),
  },
};

export function param(description: string, example: string, schema: z.ZodType = z.string()): Field {
  return { description, schema, required: true, example };
}

function paramsOf({ path, credential, params = {} }: Endpoint): Record<string, Field> {
  const known = { ...PARAMS[API_OF[credential]], ...params };
  return Object.fromEntries(
    [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
      const field = known[name];
      if (!field) throw new Error(`Cannot document ${path}: nothing says what :${name} is`);
      return [name, field];
    }),
  );
}

function mapped<From, To>(
  fields: Readonly<Record<string, From>>,
  to: (field: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, to(field)]));
}
