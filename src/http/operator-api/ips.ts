import { z } from "zod";
import { blockableAddress } from "../../domain/address.ts";
import { Refusal } from "../../domain/refusal.ts";
import { blockIp, unblockIp } from "../../operators/ips.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { documentedList, listFields, listOfAll } from "./lists.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import type { OperatorApi } from "./operator-api.ts";

const ipSchema = z.object({ address: z.string().describe("An address, or a range like 192.0.2.0/24") });
const EXAMPLE = { address: "192.0.2.0/24" };

/** GET, POST /v1/operator/ips; DELETE …/:address. Addresses whose requests to the widget API are refused. */
export function ipsEndpoints({ store, directory }: Pick<OperatorApi, "store" | "directory">) {
  return [
    endpoint({
      method: "GET",
      path: "/v1/operator/ips",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      scope: "installation",
      summary: "List the blocked addresses",
      description: "",
      query: listFields("ips"),
      answers: { 200: documentedList("The addresses", ipSchema, EXAMPLE) },
      handle: async ({ query }) =>
        listOfAll({ kind: "ips", ...query }, await store.blockedIps(), {
          placeOf: (address) => address,
          viewOf: (address) => ({ address }),
        }),
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/ips",
      credential: "operatorKey",
      roles: ["admin"],
      scope: "installation",
      summary: "Block an address",
      description: "In force with its next request to the widget API.",
      body: { schema: ipSchema, example: EXAMPLE },
      answers: { 201: documentedJson("The address as it is kept", ipSchema, EXAMPLE) },
      refusals: { conflict: "It is blocked already" },
      async handle({ acting, body }) {
        const address = blockableAddress(body.address);
        if (address === null) throw new Refusal("invalid", "The body does not match the schema: address");
        if (!(await blockIp(acting, address))) throw new Refusal("conflict", "It is blocked already");
        await directory.renew();
        return jsonAnswer(201, { address });
      },
    }),

    endpoint({
      method: "DELETE",
      path: "/v1/operator/ips/:address",
      credential: "operatorKey",
      roles: ["admin"],
      scope: "installation",
      summary: "Take a block of an address back",
      description: "A range's slash is written `%2F`.",
      answers: { 204: "It is not blocked any more" },
      refusals: { "not-found": "It is not blocked" },
      async handle({ acting, params }) {
        const address = blockableAddress(params.address);
        if (address === null || !(await unblockIp(acting, address)))
          throw new Refusal("not-found", "It is not blocked");
        await directory.renew();
        return emptyAnswer(204);
      },
    }),
  ];
}
