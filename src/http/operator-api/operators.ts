import { z } from "zod";
import { slugSchema } from "../../domain/channels/channel-fields.ts";
import { operatorNameFault } from "../../domain/people/operator-name.ts";
import { Refusal } from "../../domain/refusal.ts";
import {
  addOperator,
  describeOperator,
  operatorView,
  removeOperator,
  rotateOperator,
} from "../../operators/accounts/operators.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { documentedList, listFields, listOfAll } from "./lists.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import type { OperatorApi } from "./operator-api.ts";

const operatorSchema = z.object({
  name: z.string(),
  displayName: z.string().exactOptional().describe("What visitors call the person; without it: by name"),
  picture: z.string().exactOptional().describe("What visitors see beside the name: a data: address"),
  queues: z
    .array(z.string())
    .exactOptional()
    .describe("Whose conversations the inbox shows first; without it: all"),
  role: z.enum(["admin", "agent", "auditor"]),
  channels: z.array(z.string()).nullable().describe("Slugs that it is limited to; null: none"),
});

const EXAMPLE = { name: "ada", role: "agent", channels: ["shop"] };

const withKey = operatorSchema.extend({ key: z.string().describe("op_…, told this once") });

const displayNameSchema = z.string().refine((name) => operatorNameFault(name) === null);

/** Small, since it goes to every visitor whom the person answers. Never SVG, which may hold scripts. */
const pictureSchema = z
  .string()
  .max(65_536)
  .regex(
    /^data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
    "a PNG, JPEG or WebP as a data: address",
  );

const queuesSchema = z.array(z.string().min(1).max(50)).max(50);

const bodySchema = z.object({
  name: z.string().refine((name) => operatorNameFault(name) === null),
  displayName: displayNameSchema.exactOptional(),
  queues: queuesSchema.exactOptional(),
  role: operatorSchema.shape.role,
  channels: z.array(slugSchema).min(1).nullable().default(null),
});

const unknown = () => new Refusal("not-found", "Unknown operator");

const ADMINS = { credential: "operatorKey", roles: ["admin"], scope: "installation" } as const;

/** GET /v1/operator/me: the operator whose key is sent. */
export const me = endpoint({
  method: "GET",
  path: "/v1/operator/me",
  credential: "operatorKey",
  roles: EVERY_ROLE,
  summary: "Who I am",
  description: "",
  answers: { 200: documentedJson("The operator", operatorSchema, EXAMPLE) },
  handle: async ({ caller }) => jsonAnswer(200, operatorView(caller)),
});

/** GET, POST /v1/operator/operators; DELETE …/:name; POST …/:name/rotate. */
export function operatorsEndpoints({
  store,
  directory,
  keepKeys,
}: Pick<OperatorApi, "store" | "directory" | "keepKeys">) {
  return [
    endpoint({
      ...ADMINS,
      method: "GET",
      path: "/v1/operator/operators",
      summary: "List the operators",
      description: "By name.",
      query: listFields("operators"),
      answers: { 200: documentedList("The operators", operatorSchema, EXAMPLE) },
      handle: async ({ query }) =>
        listOfAll({ kind: "operators", ...query }, await store.operators(() => {}), {
          placeOf: ({ name }) => name,
          viewOf: operatorView,
        }),
    }),

    endpoint({
      ...ADMINS,
      method: "POST",
      path: "/v1/operator/operators",
      summary: "Add an operator",
      description: "The key is in the answer, this once.",
      body: { schema: bodySchema, example: EXAMPLE },
      answers: { 201: documentedJson("The operator, with its key", withKey, { ...EXAMPLE, key: "op_…" }) },
      refusals: { conflict: "There is one of that name" },
      async handle({ acting, body: { name, displayName, queues, role, channels } }) {
        const shown = {
          ...(displayName === undefined ? {} : { displayName }),
          ...(queues === undefined ? {} : { queues }),
        };
        const operator = { name, ...shown, role, channels: channels && [...new Set(channels)] };
        const added = await addOperator(acting, operator);
        if (added.type === "taken") {
          const { by } = added;
          const why =
            by === name ? "There is an operator of that name" : `There is ${by}, which looks like that`;
          throw new Refusal("conflict", why);
        }
        if (added.type === "unknown-channel") {
          throw new Refusal("invalid", `channels: there is no channel ${added.slug}`);
        }
        await directory.renew();
        return jsonAnswer(201, { ...operator, key: added.key.reveal() });
      },
    }),

    endpoint({
      ...ADMINS,
      method: "PATCH",
      path: "/v1/operator/operators/:name",
      summary: "Change an operator",
      description:
        "What visitors call the person, from the next taking of a thread on, the picture beside that name, and whose conversations their inbox shows first. null takes it away.",
      body: {
        schema: z.object({
          displayName: displayNameSchema.nullable().exactOptional(),
          picture: pictureSchema.nullable().exactOptional(),
          queues: queuesSchema.nullable().exactOptional(),
        }),
        example: { displayName: "Kim", queues: ["returns"] },
      },
      answers: { 200: documentedJson("The operator", operatorSchema, { ...EXAMPLE, displayName: "Kim" }) },
      refusals: {
        "not-found": "Unknown operator",
        conflict: "Another operator has that name, or one that looks like it",
      },
      async handle({ acting, params, body }) {
        const changed = await describeOperator(acting, params.name, body);
        if (changed === null) throw unknown();
        if (changed.type === "taken")
          throw new Refusal("conflict", `There is ${changed.by}, which looks like that`);
        await directory.renew();
        return jsonAnswer(200, operatorView(changed.operator));
      },
    }),

    endpoint({
      ...ADMINS,
      method: "DELETE",
      path: "/v1/operator/operators/:name",
      summary: "Remove an operator",
      description: "Its key ends at once.",
      answers: { 204: "The operator is gone" },
      refusals: { "not-found": "Unknown operator" },
      async handle({ acting, params }) {
        if (!(await removeOperator(acting, params.name))) throw unknown();
        await directory.renew();
        return emptyAnswer(204);
      },
    }),

    endpoint({
      ...ADMINS,
      method: "POST",
      path: "/v1/operator/operators/:name/rotate",
      summary: "Make an operator's key anew",
      description: "The new key is in the answer, this once; the old one ends at once.",
      answers: {
        200: documentedJson("The operator, with its new key", withKey, { ...EXAMPLE, key: "op_…" }),
      },
      refusals: { "not-found": "Unknown operator" },
      async handle({ acting, params }) {
        const rotated = await rotateOperator(acting, params.name);
        if (rotated === null) throw unknown();
        const { operator, key } = rotated;
        keepKeys.operator(operator.name, key);
        await directory.renew();
        return jsonAnswer(200, { ...operatorView(operator), key: key.reveal() });
      },
    }),
  ];
}
