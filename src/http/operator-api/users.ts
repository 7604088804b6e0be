import { z } from "zod";
import { attributesField } from "../../domain/attributes.ts";
import type { Operator } from "../../domain/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import { MAX_DISPLAY_NAME_CHARS } from "../../domain/user.ts";
import type { User } from "../../domain/user.ts";
import { searchUsers } from "../../operators/search-users.ts";
import { stopUser } from "../../operators/stop-runs.ts";
import { changeUser, revokeUser, userView } from "../../operators/users.ts";
import { bodyOf } from "../body.ts";
import { atMost, callerId } from "../fields.ts";
import { documentedEmpty, documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import type { Field, Route } from "../route.ts";
import { existingChannel, existingUser } from "./existing.ts";
import { documentedList, listAnswer, listFields, listingOf } from "./lists.ts";
import { EVERY_ROLE, operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";

export const userSchema = z.object({
  userId: z.string().describe("The service's own id"),
  externalUserId: z.string().nullable().describe("The caller's id; null: anonymous"),
  displayName: z.string().nullable().optional().describe("Not for auditors"),
  attributes: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("What the site told about the user; not for auditors"),
  blocked: z.boolean(),
  whitelisted: z.boolean(),
});

const EXAMPLE = {
  userId: "8Zk3x0T5RrOeS3o1m1yq6g",
  externalUserId: "account-7",
  displayName: "Ada",
  blocked: false,
  whitelisted: false,
};

const flagText = z.enum(["true", "false"]).transform((text) => text === "true");

const querySchema = z.object({
  q: z.string().default(""),
  blocked: flagText.nullable().default(null),
  anonymous: flagText.nullable().default(null),
  order: z.enum(["newest", "oldest"]).default("newest"),
});

const flagField = (description: string): Field => ({
  description,
  schema: z.enum(["true", "false"]),
  required: false,
  example: "true",
});

const bodySchema = z.object({
  blocked: z.boolean().exactOptional(),
  whitelisted: z.boolean().exactOptional(),
  displayName: atMost(MAX_DISPLAY_NAME_CHARS).nullable().exactOptional().describe("null takes the name away"),
  stop: z
    .boolean()
    .exactOptional()
    .describe("With `blocked`: the user's runs, pending calls and what waits behind them end, too"),
});

const STOP_ALONE = "The body does not match the schema: stop goes with blocked";

export const userParam: Record<string, Field> = {
  userId: {
    description: "The service's id of the user, or the caller's",
    schema: callerId,
    required: true,
    example: "account-7",
  },
};

export const documentedStop = documentedJson("How many threads had a run", z.object({ threads: z.int() }), {
  threads: 1,
});

/** GET /v1/operator/channels/:slug/users; GET, PATCH …/users/:userId; POST …/revoke, …/stop. */
export function usersRoutes(api: OperatorApi): Route[] {
  const { store, config } = api;
  return [
    operatorRoute(api, {
      method: "GET",
      path: "/channels/:slug/users",
      roles: EVERY_ROLE,
      scope: "channels",
      summary: "List a channel's users",
      description:
        "Newest first, or as `order` says. With `q`, `blocked` or `anonymous` a page may hold fewer than `limit`, even none, and have a next one. Names and attributes are not shown to auditors, and names are not searched for them.",
      query: {
        ...listFields,
        q: { description: "Part of an id or a name", schema: z.string(), required: false, example: "ada" },
        blocked: flagField("Only those who are blocked, or who are not"),
        anonymous: flagField("Only those without an id of the caller's, or with one"),
        order: {
          description: "Who comes first: `newest`, which is the default, or `oldest`",
          schema: z.enum(["newest", "oldest"]),
          required: false,
          example: "oldest",
        },
      },
      answers: { 200: documentedList("The users", userSchema, EXAMPLE) },
      refusals: { "not-found": "Unknown channel" },
      async handle({ incoming, operator, param }) {
        const { limit, after, query } = listingOf(incoming, "users", querySchema);
        const { slug } = await existingChannel(store, param("slug"));
        const { q: text, blocked, anonymous, order } = query;
        const search = { text, blocked, anonymous, seesNames: seesNames(operator) };
        const { users, next } = await searchUsers(
          store,
          slug,
          { limit, after, order: `${order} first` },
          search,
        );
        return listAnswer(
          "users",
          users.map((user) => viewFor(operator, user)),
          next,
        );
      },
    }),

    operatorRoute(api, {
      method: "GET",
      path: "/channels/:slug/users/:userId",
      roles: EVERY_ROLE,
      scope: "channels",
      summary: "Show a user",
      description: "The service's id comes before the caller's. Names are not shown to auditors.",
      params: userParam,
      answers: { 200: documentedJson("The user", userSchema, EXAMPLE) },
      refusals: { "not-found": "Unknown channel or user" },
      handle: async ({ operator, param }) =>
        jsonAnswer(200, viewFor(operator, await existingUser(store, param("slug"), param("userId")))),
    }),

    operatorRoute(api, {
      method: "PATCH",
      path: "/channels/:slug/users/:userId",
      roles: ["admin", "agent"],
      scope: "channels",
      summary: "Block, whitelist or rename a user",
      description: "In force with the user's next request.",
      params: userParam,
      body: { schema: bodySchema, example: { blocked: true } },
      answers: { 200: documentedJson("The user", userSchema, { ...EXAMPLE, blocked: true }) },
      refusals: { "not-found": "Unknown channel or user" },
      async handle({ incoming, operator, acting, param }) {
        const { stop = false, ...change } = await bodyOf(incoming.request, config.serverMaxBodyBytes, {
          schema: bodySchema,
        });
        if (stop && change.blocked !== true) throw new Refusal("invalid", STOP_ALONE);
        const slug = param("slug");
        const user = await existingUser(store, slug, param("userId"));
        const changed = await changeUser(acting, slug, user, change);
        if (changed === null) throw new Refusal("not-found", "Unknown user");
        if (stop) await stopUser(acting, api.threads, slug, user.userId);
        return jsonAnswer(200, viewFor(operator, changed));
      },
    }),

    operatorRoute(api, {
      method: "POST",
      path: "/channels/:slug/users/:userId/revoke",
      roles: ["admin", "agent"],
      scope: "channels",
      summary: "End all visitor tokens of a user",
      description: "Pages that hold one are strangers again, and their feeds end.",
      params: userParam,
      answers: { 204: documentedEmpty("They are ended") },
      refusals: { "not-found": "Unknown channel or user" },
      async handle({ acting, param }) {
        const { userId } = await existingUser(store, param("slug"), param("userId"));
        const isThere = await revokeUser(acting, param("slug"), userId);
        if (!isThere) throw new Refusal("not-found", "Unknown user");
        return emptyAnswer(204);
      },
    }),

    operatorRoute(api, {
      method: "POST",
      path: "/channels/:slug/users/:userId/stop",
      roles: ["admin", "agent"],
      scope: "channels",
      summary: "Stop a user's runs",
      description: "The pending calls and what waits behind them, too; the user may go on.",
      params: userParam,
      answers: { 200: documentedStop },
      refusals: { "not-found": "Unknown channel or user" },
      async handle({ acting, param }) {
        const { userId } = await existingUser(store, param("slug"), param("userId"));
        return jsonAnswer(200, { threads: await stopUser(acting, api.threads, param("slug"), userId) });
      },
    }),
  ];
}

/** Names are text, which an auditor must not read. */
function seesNames({ role }: Operator): boolean {
  return role !== "auditor";
}

function viewFor(operator: Operator, user: User): z.infer<typeof userSchema> {
  const { displayName, ...view } = userView(user);
  return seesNames(operator) ? { ...view, displayName, ...attributesField(user.attributes) } : view;
}
