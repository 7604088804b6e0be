import { createTransportUsers } from "../admission/transport-users.ts";
import type { Arrival } from "../admission/arrival.ts";
import type { Directory } from "../admission/directory.ts";
import type { Clock } from "../clock.ts";
import { Refusal } from "../domain/refusal.ts";
import { threadUid } from "../domain/threads/thread-uid.ts";
import type { Store } from "../store.ts";
import type { Threads } from "../threads/threads.ts";
import type { Door } from "./messengers.ts";

/** What an admission notes goes into the log line of the platform's request, which is not one user's. */
const UNNOTED: Pick<Arrival, "note"> = { note() {} };

/** The door of the service's own process: as POST /v1/messages, without HTTP. */
export function createOwnDoor({
  directory,
  store,
  clock,
  threads,
}: {
  directory: Pick<Directory, "channel">;
  store: Pick<Store, "admitUser" | "channel">;
  clock: Clock;
  threads: Pick<Threads, "say">;
}): Door {
  const users = createTransportUsers({ directory, store, clock });

  return {
    async say(slug, { threadId, userId: externalId, displayName, text, attachments, clientMessageId }) {
      const uid = threadUid(slug, externalId, threadId);
      const thread = { name: threadId, newUid: uid };
      const admitted = await users.speaker(UNNOTED, { slug, externalId, displayName, thread });
      const { user } = admitted;
      const reply = await threads.say({
        uid: admitted.threadUid ?? uid,
        slug,
        api: "server",
        userId: user.userId,
        speaker: {
          displayName: user.displayName,
          page: null,
          customerContext: null,
          ...(user.attributes === undefined ? {} : { attributes: user.attributes }),
        },
        text,
        attachments,
        clientMessageId,
        traceparent: null,
      });
      // Its reply is brought by the outbox.
      reply.leave();
    },

    async knows(slug, { userId: externalId, threadId }) {
      try {
        return (await users.threadOf(UNNOTED, { slug, externalId, threadId })) !== null;
      } catch (error) {
        if (error instanceof Refusal && error.reason === "not-found") return false;
        throw error;
      }
    },
  };
}
