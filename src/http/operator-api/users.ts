import { z } from "zod";
import { attributesField } from "../../domain/people/attributes.ts";
import type { Operator } from "../../domain/people/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import { MAX_DISPLAY_NAME_CHARS } from "../../domain/people/user.ts";
import type { User } from "../../domain/people/user.ts";
import { searchUsers } from "../../operators/search-users.ts";
import { deleteUser } from "../../operators/forgetting.ts";
import { stopUser } from "../../operators/stop-runs.ts";
import { changeUser, revokeUser, userView } from "../../operators/users.ts";
import { user as shownUser } from "../../protocol/user.ts";
import type { User as ShownUser } from "../../protocol/user.ts";
import { endpoint } from "../endpoint.ts";
import { atMost } from "../fields.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { documentedList, listAnswer, listFields } from "./lists.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import type { OperatorApi } from "./operator-api.ts";

const EXAMPLE = {
  userId: "8Zk3x0T5RrOeS3o1m1yq6g",
  externalUserId: "account-7",
  displayName: "Ada",
  blocked: false,
  whitelisted: false,
};

const flagField = (description: string) => ({
  description,
  schema: z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .nullable()
    .default(null),
  shown: z.enum(["true", "false"]),
  example: "true",
});

const ORDERS = z.enum(["newest", "oldest"]);

const bodySchema = z.object({
  blocked: z.boolean().exactOptional(),
  whitelisted: z.boolean().exactOptional(),
  displayName: atMost(MAX_DISPLAY_NAME_CHARS).nullable().exactOptional().describe("null takes the name away"),
  stop: z
    .boolean()
    .exactOptional()
    .describe("With `blocked`: the user's runs, pending calls and what waits behind them end, too"),
});

export const documentedStop = documentedJson("How many threads had a run", z.object({ threads: z.int() }), {
  threads: 1,
});

/** GET /v1/operator/channels/:slug/users; GET, PATCH, DELETE …/users/:userId; POST …/revoke, …/stop. */
export function usersEndpoints({ store, threads }: Pick<OperatorApi, "store" | "threads">) {
  return [
    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/users",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      finds: "channel",
      summary: "List a channel's users",
      description:
        "Newest first, or as `order` says. With `q`, `blocked` or `anonymous` a page may hold fewer than `limit`, even none, and have a next one. Names and attributes are not shown to auditors, and names are not searched for them.",
      query: {
        ...listFields("users"),
        q: { description: "Part of an id or a name", example: "ada" },
        blocked: flagField("Only those who are blocked, or who are not"),
        anonymous: flagField("Only those without an id of the caller's, or with one"),
        order: {
          description: "Who comes first: `newest`, which is the default, or `oldest`",
          schema: ORDERS.default("newest"),
          shown: ORDERS,
          example: "oldest",
        },
      },
      answers: { 200: documentedList("The users", shownUser, EXAMPLE) },
      async handle({ caller, channel: { slug }, query }) {
        const { limit, cursor: after, q, blocked, anonymous, order } = query;
        const search = { text: q ?? "", blocked, anonymous, seesNames: seesNames(caller) };
        const { users, next } = await searchUsers(
          store,
          slug,
          { limit, after, order: `${order} first` },
          search,
        );
        return listAnswer(
          "users",
          users.map((user) => viewFor(caller, user)),
          next,
        );
      },
    }),

    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/users/:userId",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      finds: "user",
      summary: "Show a user",
      description: "The service's id comes before the caller's. Names are not shown to auditors.",
      answers: { 200: documentedJson("The user", shownUser, EXAMPLE) },
      handle: async ({ caller, user }) => jsonAnswer(200, viewFor(caller, user)),
    }),

    endpoint({
      method: "PATCH",
      path: "/v1/operator/channels/:slug/users/:userId",
      credential: "operatorKey",
      roles: ["admin", "agent"],
      finds: "user",
      summary: "Block, whitelist or rename a user",
      description: "In force with the user's next request.",
      body: { schema: bodySchema, example: { blocked: true }, check: mustStopBlocked },
      answers: { 200: documentedJson("The user", shownUser, { ...EXAMPLE, blocked: true }) },
      async handle({ caller, acting, params: { slug }, user, body }) {
        const { stop = false, ...change } = body;
        const changed = await changeUser(acting, slug, user, change);
        if (changed === null) throw new Refusal("not-found", "Unknown user");
        if (stop) await stopUser(acting, threads, slug, user.userId);
        return jsonAnswer(200, viewFor(caller, changed));
      },
    }),

    endpoint({
      method: "DELETE",
      path: "/v1/operator/channels/:slug/users/:userId",
      credential: "operatorKey",
      roles: ["admin"],
      finds: "user",
      summary: "Delete a user",
      description:
        "With all threads, for good: tokens are 401 from now on, everything else is 404. Whoever comes with the same id of the caller's begins anew as a stranger, also one who was blocked. Texts leave the store within 60 seconds. In the audit, without content.",
      answers: { 202: "The user is deleted" },
      async handle({ acting, params: { slug }, user }) {
        await deleteUser(acting, threads.forgetting, slug, user.userId);
        return emptyAnswer(202);
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/users/:userId/revoke",
      credential: "operatorKey",
      roles: ["admin", "agent"],
      finds: "user",
      summary: "End all visitor tokens of a user",
      description: "Pages that hold one are strangers again, and their feeds end.",
      answers: { 204: "They are ended" },
      async handle({ acting, params: { slug }, user }) {
        const isThere = await revokeUser(acting, slug, user.userId);
        if (!isThere) throw new Refusal("not-found", "Unknown user");
        return emptyAnswer(204);
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/users/:userId/stop",
      credential: "operatorKey",
      roles: ["admin", "agent"],
      finds: "user",
      summary: "Stop a user's runs",
      description: "The pending calls and what waits behind them, too; the user may go on.",
      answers: { 200: documentedStop },
      handle: async ({ acting, params: { slug }, user }) =>
        jsonAnswer(200, { threads: await stopUser(acting, threads, slug, user.userId) }),
    }),
  ];
}

/** `stop` alone would end runs of a user who may begin others. */
function mustStopBlocked({ stop = false, blocked }: z.infer<typeof bodySchema>): void {
  if (stop && blocked !== true) {
    throw new Refusal("invalid", "The body does not match the schema: stop goes with blocked");
  }
}

/** Names are text, which an auditor must not read. */
function seesNames({ role }: Operator): boolean {
  return role !== "auditor";
}

function viewFor(operator: Operator, user: User): ShownUser {
  const { displayName, ...view } = userView(user);
  return seesNames(operator) ? { ...view, displayName, ...attributesField(user.attributes) } : view;
}
