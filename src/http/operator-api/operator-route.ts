import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { OperatorAdmission } from "../../admission/operator-admission.ts";
import type { Directory } from "../../admission/directory.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import type { ChannelVariables } from "../../config/channel-variables.ts";
import type { Operator, OperatorRole } from "../../domain/operator.ts";
import { seesChannel } from "../../domain/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { RefusalReason } from "../../domain/refusal.ts";
import type { ChannelKeys } from "../../keys.ts";
import type { HttpAnswer } from "../../listener.ts";
import type { PlainLog } from "../../log.ts";
import type { Acting } from "../../operators/acting.ts";
import type { ThreadChanges } from "../../operators/thread-changes.ts";
import type { Secret } from "../../secret.ts";
import type { Store } from "../../store.ts";
import type { Reads } from "../reads.ts";
import { serverRefusals } from "../reference/shared-documentation.ts";
import type { AnswerDocumentation, Documentation, Field, Method, Route, RouteRequest } from "../route.ts";

/** The dependencies of the operator API. */
export interface OperatorApi {
  admission: OperatorAdmission;
  store: Store;
  threads: Pick<
    Threads,
    | "load"
    | "cancel"
    | "history"
    | "keptText"
    | "attachmentAddresses"
    | "follow"
    | "openFeed"
    | "isDraining"
    | "people"
    | "forgetting"
  >;
  reads: Reads;
  directory: Pick<Directory, "renew" | "channels" | "operatorOf">;
  threadChanges: ThreadChanges;
  channelVariables: ChannelVariables;
  clock: Clock;
  log: PlainLog;
  config: Pick<
    Config,
    "serverMaxBodyBytes" | "webhooksPrivate" | "mcpPrivate" | "maxTokensPerDay" | "addressMaxTokensPerDay"
  >;
  /** Gets new keys that this instance may need at its next start. */
  keepKeys: KeptKeys;
}

export interface KeptKeys {
  channel(slug: string, keys: ChannelKeys): void;
  operator(name: string, key: Secret): void;
}

/** What an endpoint gets: the request, and its operator, who is already authorized. */
export interface Asked {
  incoming: RouteRequest;
  operator: Operator;
  /** Writes in the operator's name. */
  acting: Acting<Store>;
  /** A `:name` of the path. */
  param: (name: string) => string;
}

export interface OperatorEndpoint {
  method: Method;
  /** After `/v1/operator`. With `:slug`, operators who may not see that channel are refused. */
  path: string;
  roles: readonly OperatorRole[];
  /** `installation`: operators who are limited to channels are refused. */
  scope: "channels" | "installation";
  summary: string;
  description: string;
  params?: Record<string, Field>;
  query?: Record<string, Field>;
  body?: Documentation["body"];
  answers: Record<number, AnswerDocumentation>;
  /** Besides those of every endpoint. */
  refusals?: Partial<Record<RefusalReason, string>>;
  handle: (asked: Asked) => Promise<HttpAnswer>;
}

export const EVERY_ROLE: readonly OperatorRole[] = ["admin", "agent", "auditor"];

const slugParam: Field = {
  description: "Channel slug",
  schema: z.string(),
  required: true,
  example: "shop",
};

/** An endpoint of the operator API: checks key and role before anything is read from the body or the store. */
export function operatorRoute(api: OperatorApi, endpoint: OperatorEndpoint): Route {
  const { method, path, roles, scope, handle } = endpoint;
  return {
    method,
    path: `/v1/operator${path}`,
    api: "operator",
    documentation: documentationOf(endpoint),
    async handle(incoming) {
      const operator = api.admission.admit(incoming);
      const slug = incoming.params["slug"];
      if (!roles.includes(operator.role)) throw new Refusal("forbidden");
      if (scope === "installation" && operator.channels !== null) throw new Refusal("forbidden");
      if (slug !== undefined && !seesChannel(operator, slug)) throw new Refusal("forbidden");
      const { store, clock } = api;
      return handle({
        incoming,
        operator,
        acting: { store, clock, operator: operator.name },
        param: (name) => incoming.params[name] ?? "",
      });
    },
  };
}

function documentationOf(endpoint: OperatorEndpoint): Documentation {
  const { path, roles, scope, summary, description, params = {}, query = {}, body = null } = endpoint;
  const { answers, refusals = {} } = endpoint;
  const limited = scope === "installation" ? ", not limited to channels" : "";
  const reasons: RefusalReason[] = ["unauthorized", "forbidden", "too-large", "rate-limited", "unavailable"];
  if (body) reasons.push("unsupported-encoding", "invalid");
  else if (Object.keys(query).length > 0) reasons.push("invalid");
  // A cast: TypeScript types the keys of any object as strings.
  const own = Object.keys(refusals) as RefusalReason[];
  return {
    summary,
    description: `${description}${description === "" ? "" : " "}For: ${roles.join(", ")}${limited}.`,
    credential: "operatorKey",
    params: { ...(path.includes("/:slug") ? { slug: slugParam } : {}), ...params },
    query,
    headers: {},
    body,
    answers: {
      ...answers,
      ...serverRefusals([...new Set([...reasons, ...own])], {
        forbidden: "The operator's role or channels do not allow it",
        "rate-limited": "Too many wrong keys came from this address",
        ...(body ? {} : { invalid: "The query does not match the schema" }),
        ...refusals,
      }),
    },
  };
}
