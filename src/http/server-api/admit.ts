import { z } from "zod";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../domain/refusal.ts";
import { queryOf } from "../body.ts";
import { keyed } from "../endpoint-route.ts";
import type { HandleOf } from "../endpoint-route.ts";
import type { Endpoint, Found } from "../endpoint.ts";
import { callerId, channelSlug } from "../fields.ts";
import type { RouteRequest } from "../route.ts";

/** Whose thread it is: the query of a GET says it, or a body. */
export const owner = z.object({
  userId: callerId,
  channel: channelSlug.default("cli").describe("Channel slug"),
});

/** The order of the server API's checks: the declared length, the key, the body (README, Error bodies). */
export function serverHandleOf({
  admission,
  config,
}: {
  admission: ServerAdmission;
  config: Pick<Config, "serverMaxBodyBytes">;
}): HandleOf<"transportKey" | "secretKey"> {
  const limitBytes = config.serverMaxBodyBytes;
  return (endpoint) => {
    switch (endpoint.credential) {
      case "transportKey":
        return keyed(endpoint, {
          limitBytes,
          admit({ request }) {
            admission.transport(request);
            return null;
          },
          find: finderOf(endpoint, admission),
        });
      case "secretKey":
        return keyed(endpoint, {
          limitBytes,
          admit: (incoming) => admission.backend(incoming, incoming.params["slug"] ?? ""),
        });
    }
  };
}

type Finder<What> = (incoming: RouteRequest, body: unknown) => Promise<What>;

/** What an endpoint finds, after its body and its query are read; null: nothing. */
function finderOf(
  { finds }: Pick<Endpoint, "finds">,
  admission: Pick<ServerAdmission, "knownUser" | "threadOf" | "speakersThread">,
): Finder<object> | null {
  const user: Finder<Found["transportKey"]["user"]> = async (incoming) => {
    const { userId: externalId, channel: slug } = queryOf(incoming.request, owner);
    const { userId } = await admission.knownUser(incoming, { slug, externalId });
    return { user: { slug, userId } };
  };

  const threadBy =
    (
      find: (typeof admission)["threadOf"],
      ownerIn: (incoming: RouteRequest, body: unknown) => z.infer<typeof owner>,
    ): Finder<Found["transportKey"]["thread"]> =>
    async (incoming, body) => {
      const { userId: externalId, channel: slug } = ownerIn(incoming, body);
      const threadId = incoming.params["threadId"] ?? "";
      if (!callerId.safeParse(threadId).success) throw new Refusal("invalid", "The path holds no threadId");
      const uid = await find(incoming, { slug, externalId, threadId });
      if (uid === null) throw new Refusal("not-found", "Unknown thread");
      return { thread: { slug, uid } };
    };

  switch (finds) {
    case "user":
      return user;
    case "thread":
      return threadBy(admission.threadOf, ({ request }) => queryOf(request, owner));
    case "speakersThread":
      // A cast: its body's schema has them.
      return threadBy(admission.speakersThread, (_, body) => body as z.infer<typeof owner>);
    case undefined:
    default:
      return null;
  }
}
