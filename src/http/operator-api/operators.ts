import { z } from "zod";
import { slugSchema } from "../../domain/channel-fields.ts";
import { operatorNameFault } from "../../domain/operator-name.ts";
import { Refusal } from "../../domain/refusal.ts";
import { addOperator, operatorView, removeOperator, rotateOperator } from "../../operators/operators.ts";
import { bodyOf } from "../body.ts";
import { documentedEmpty, documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import type { Field, Route } from "../route.ts";
import { documentedList, listFields, listOfAll } from "./lists.ts";
import { operatorSchema } from "./me.ts";
import { operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";

const EXAMPLE = { name: "ada", role: "agent", channels: ["shop"] };

const withKey = operatorSchema.extend({ key: z.string().describe("op_…, told this once") });

const bodySchema = z.object({
  name: z.string().refine((name) => operatorNameFault(name) === null),
  role: operatorSchema.shape.role,
  channels: z.array(slugSchema).min(1).nullable().default(null),
});

const nameParam: Record<string, Field> = {
  name: { description: "The operator's name", schema: z.string(), required: true, example: "ada" },
};

const unknown = () => new Refusal("not-found", "Unknown operator");

const ADMINS = { roles: ["admin"], scope: "installation" } as const;

/** GET, POST /v1/operator/operators; DELETE …/:name; POST …/:name/rotate. */
export function operatorsRoutes(api: OperatorApi): Route[] {
  const { store, directory, config, keepKeys } = api;
  return [
    operatorRoute(api, {
      ...ADMINS,
      method: "GET",
      path: "/operators",
      summary: "List the operators",
      description: "By name.",
      query: listFields,
      answers: { 200: documentedList("The operators", operatorSchema, EXAMPLE) },
      handle: async ({ incoming }) =>
        listOfAll({ incoming, kind: "operators" }, await store.operators(() => {}), {
          placeOf: ({ name }) => name,
          viewOf: operatorView,
        }),
    }),

    operatorRoute(api, {
      ...ADMINS,
      method: "POST",
      path: "/operators",
      summary: "Add an operator",
      description: "The key is in the answer, this once.",
      body: { schema: bodySchema, example: EXAMPLE },
      answers: { 201: documentedJson("The operator, with its key", withKey, { ...EXAMPLE, key: "op_…" }) },
      refusals: { conflict: "There is one of that name" },
      async handle({ incoming, acting }) {
        const { name, role, channels } = await bodyOf(incoming.request, config.serverMaxBodyBytes, {
          schema: bodySchema,
        });
        const operator = { name, role, channels: channels && [...new Set(channels)] };
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

    operatorRoute(api, {
      ...ADMINS,
      method: "DELETE",
      path: "/operators/:name",
      summary: "Remove an operator",
      description: "Its key ends at once.",
      params: nameParam,
      answers: { 204: documentedEmpty("The operator is gone") },
      refusals: { "not-found": "Unknown operator" },
      async handle({ acting, param }) {
        if (!(await removeOperator(acting, param("name")))) throw unknown();
        await directory.renew();
        return emptyAnswer(204);
      },
    }),

    operatorRoute(api, {
      ...ADMINS,
      method: "POST",
      path: "/operators/:name/rotate",
      summary: "Make an operator's key anew",
      description: "The new key is in the answer, this once; the old one ends at once.",
      params: nameParam,
      answers: {
        200: documentedJson("The operator, with its new key", withKey, { ...EXAMPLE, key: "op_…" }),
      },
      refusals: { "not-found": "Unknown operator" },
      async handle({ acting, param }) {
        const rotated = await rotateOperator(acting, param("name"));
        if (rotated === null) throw unknown();
        const { operator, key } = rotated;
        keepKeys.operator(operator.name, key);
        await directory.renew();
        return jsonAnswer(200, { ...operatorView(operator), key: key.reveal() });
      },
    }),
  ];
}
