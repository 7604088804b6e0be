import { createTransportUsers } from "../admission/transport-users.ts";
import type { Arrival } from "../admission/arrival.ts";
import type { Directory } from "../admission/directory.ts";
import type { Clock } from "../clock.ts";
import { fileType } from "../domain/threads/file-type.ts";
import { Refusal } from "../domain/refusal.ts";
import { threadUid } from "../domain/threads/thread-uid.ts";
import type { Store } from "../store.ts";
import type { FilesOf, SentDocument } from "../threads/say/files.ts";
import type { Threads } from "../threads/threads.ts";
import type { Door } from "./messengers.ts";
import { nameOf } from "./said.ts";
import type { Said } from "./said.ts";

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
  threads: Pick<Threads, "say" | "files">;
}): Door {
  const users = createTransportUsers({ directory, store, clock });

  /** What is of no type that is taken is named in the text. */
  async function withFiles(
    message: FilesOf,
    { text, documents }: Pick<Said, "text" | "documents">,
  ): Promise<{ text: string; files: string[] }> {
    const isTaken = ({ name, bytes }: SentDocument) => bytes.length > 0 && fileType(bytes, name) !== null;
    const named = documents.filter((one) => !isTaken(one)).map(({ name }) => nameOf({ type: "file", name }));
    const told = [text, ...named].filter((part) => part !== "").join("\n");
    return { text: told, files: await threads.files.keepAll(message, documents.filter(isTaken)) };
  }

  return {
    async say(slug, { threadId, userId: externalId, displayName, attachments, clientMessageId, ...said }) {
      const uid = threadUid(slug, externalId, threadId);
      const thread = { name: threadId, newUid: uid };
      const admitted = await users.speaker(UNNOTED, { slug, externalId, displayName, thread });
      const { user } = admitted;
      const toUid = admitted.threadUid ?? uid;
      const { text, files } = await withFiles({ uid: toUid, slug, clientMessageId }, said);
      const reply = await threads.say({
        uid: toUid,
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
        files,
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
