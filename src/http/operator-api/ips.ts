import { z } from "zod";
import { blockableAddress } from "../../domain/address.ts";
import { Refusal } from "../../domain/refusal.ts";
import { blockIp, unblockIp } from "../../operators/ips.ts";
import { bodyOf } from "../body.ts";
import { documentedEmpty, documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import type { Route } from "../route.ts";
import { documentedList, listFields, listOfAll } from "./lists.ts";
import { EVERY_ROLE, operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";

const ipSchema = z.object({ address: z.string().describe("An address, or a range like 192.0.2.0/24") });
const EXAMPLE = { address: "192.0.2.0/24" };

/** GET, POST /v1/operator/ips; DELETE …/:address. Addresses whose requests to the widget API are refused. */
export function ipsRoutes(api: OperatorApi): Route[] {
  const { store, directory, config } = api;
  return [
    operatorRoute(api, {
      method: "GET",
      path: "/ips",
      roles: EVERY_ROLE,
      scope: "installation",
      summary: "List the blocked addresses",
      description: "",
      query: listFields,
      answers: { 200: documentedList("The addresses", ipSchema, EXAMPLE) },
      handle: async ({ incoming }) =>
        listOfAll({ incoming, kind: "ips" }, await store.blockedIps(), {
          placeOf: (address) => address,
          viewOf: (address) => ({ address }),
        }),
    }),

    operatorRoute(api, {
      method: "POST",
      path: "/ips",
      roles: ["admin"],
      scope: "installation",
      summary: "Block an address",
      description: "In force with its next request to the widget API.",
      body: { schema: ipSchema, example: EXAMPLE },
      answers: { 201: documentedJson("The address as it is kept", ipSchema, EXAMPLE) },
      refusals: { conflict: "It is blocked already" },
      async handle({ incoming, acting }) {
        const body = await bodyOf(incoming.request, config.serverMaxBodyBytes, { schema: ipSchema });
        const address = blockableAddress(body.address);
        if (address === null) throw new Refusal("invalid", "The body does not match the schema: address");
        if (!(await blockIp(acting, address))) throw new Refusal("conflict", "It is blocked already");
        await directory.renew();
        return jsonAnswer(201, { address });
      },
    }),

    operatorRoute(api, {
      method: "DELETE",
      path: "/ips/:address",
      roles: ["admin"],
      scope: "installation",
      summary: "Take a block of an address back",
      description: "A range's slash is written `%2F`.",
      params: {
        address: {
          description: "As the list shows it, in any spelling",
          schema: z.string(),
          required: true,
          example: EXAMPLE.address,
        },
      },
      answers: { 204: documentedEmpty("It is not blocked any more") },
      refusals: { "not-found": "It is not blocked" },
      async handle({ acting, param }) {
        const address = blockableAddress(param("address"));
        if (address === null || !(await unblockIp(acting, address)))
          throw new Refusal("not-found", "It is not blocked");
        await directory.renew();
        return emptyAnswer(204);
      },
    }),
  ];
}
