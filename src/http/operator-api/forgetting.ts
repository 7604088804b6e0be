import { deleteThread, deleteUser } from "../../operators/forgetting.ts";
import { documentedEmpty } from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import type { Route } from "../route.ts";
import { existingThread, existingUser } from "./existing.ts";
import { operatorRoute } from "./operator-route.ts";
import type { OperatorApi, OperatorEndpoint } from "./operator-route.ts";
import { threadParam } from "./threads.ts";
import { userParam } from "./users.ts";

const DELETES = {
  method: "DELETE",
  roles: ["admin"],
  scope: "channels",
} as const satisfies Partial<OperatorEndpoint>;

/** DELETE /v1/operator/channels/:slug/threads/:id, …/users/:userId (contract, Forgetting). */
export function forgettingRoutes(api: OperatorApi): Route[] {
  const { store } = api;
  const { forgetting } = api.threads;
  return [
    operatorRoute(api, {
      ...DELETES,
      path: "/channels/:slug/threads/:id",
      summary: "Delete a thread",
      description:
        "With everything in it, for good: from now on it is 404, and nothing that is on its way brings it back. A run ends, and its streams with an error line of code deleted. Its texts leave the store within 60 seconds. In the audit, without content.",
      params: threadParam,
      answers: { 202: documentedEmpty("It is deleted") },
      refusals: { "not-found": "Unknown channel or thread" },
      async handle({ acting, param }) {
        const slug = param("slug");
        const uid = await existingThread(store, slug, param("id"));
        await deleteThread(acting, forgetting, slug, uid);
        return emptyAnswer(202);
      },
    }),

    operatorRoute(api, {
      ...DELETES,
      path: "/channels/:slug/users/:userId",
      summary: "Delete a user",
      description:
        "With all threads, for good: tokens are 401 from now on, everything else is 404. Whoever comes with the same id of the caller's begins anew as a stranger, also one who was blocked. Texts leave the store within 60 seconds. In the audit, without content.",
      params: userParam,
      answers: { 202: documentedEmpty("The user is deleted") },
      refusals: { "not-found": "Unknown channel or user" },
      async handle({ acting, param }) {
        const slug = param("slug");
        const { userId } = await existingUser(store, slug, param("userId"));
        await deleteUser(acting, forgetting, slug, userId);
        return emptyAnswer(202);
      },
    }),
  ];
}
