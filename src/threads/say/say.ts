import { keptAttachments } from "../../domain/threads/attachments.ts";
import type { Attachment, SentAttachment } from "../../domain/threads/attachments.ts";
import type { MessageFile } from "../../domain/threads/files.ts";
import type { Api, Speaker, UserMessage } from "../../domain/threads/message.ts";
import { Refusal } from "../../domain/refusal.ts";
import { hashOf } from "../../domain/threads/message-claim.ts";
import type { SaidBefore, ThreadRecord } from "../../store.ts";
import type { Claims } from "../hold/claims.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { Following } from "../following/following.ts";
import type { HeldThreads } from "../hold/held-threads.ts";
import { refuseDeleted } from "../delete/deleted.ts";
import { sayWithImages } from "./keep-images.ts";
import { takenFiles } from "./files.ts";
import { refuseUnreadable } from "../recover/refuse-unreadable.ts";
import { createReply } from "../hold/reply.ts";
import { answeredBy, mustBeUsers } from "./branch.ts";
import type { MessageBehind } from "./while-running.ts";
import type { Repeat } from "./repeat.ts";
import type { Reply } from "../hold/reply.ts";

/** A user's message as a request brings it. */
export interface NewMessage {
  uid: string;
  slug: string;
  api: Api;
  userId: string;
  speaker: Speaker;
  text: string;
  attachments?: readonly SentAttachment[] | undefined;
  /** Ids of the thread's files (files.ts). */
  files?: readonly string[] | undefined;
  /** The user's item in whose place it stands: a branch begins with it. Absent: it follows the last item. */
  replaces?: string | undefined;
  /** The caller's own id of the message; null: none, so a repeat counts as a new message. */
  clientMessageId: string | null;
  /** W3C trace context of the request, or null. */
  traceparent: string | null;
  /** The client's address in the form in which it is counted; null: not counted. */
  address?: string | null;
}

/** A reply that is wanted anew: its message is answered once more, in a new branch. */
export type AnotherReply = Omit<NewMessage, "text" | "attachments" | "files" | "replaces"> & {
  messageId: string;
};

export interface Say {
  say(this: void, said: NewMessage, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** Refusal("not-found"): no reply of the assistant, to a message of the chosen branch, has this id. */
  answerAgain(this: void, asked: AnotherReply): Promise<Reply>;
}

/**
 * Stores a message, and begins its run if the thread is free; if it is held, the message waits in the thread's queue.
 * Resolves when it is stored. A repeated clientMessageId stores nothing, and gets the stream of the first message's run.
 * Refusal("rate-limited") if the queue is full, Refusal("invalid") if the id was used with another text. What begins a branch
 * ends the run that goes on: what that answers may be in the other branch.
 */
export function createSay({
  claims,
  held,
  following,
  store,
  clock,
  newId,
  limits,
  repeat,
  behind,
}: Pick<ThreadDependencies, "store" | "clock" | "newId" | "limits"> & {
  claims: Claims;
  held: HeldThreads;
  following: Following;
  repeat: Repeat;
  behind: Pick<MessageBehind, "waits">;
}): Say {
  const max = limits.threadQueueMax;

  function say(
    said: NewMessage,
    loading?: Promise<ThreadRecord | null>,
    files: MessageFile[] = [],
  ): Promise<Reply> {
    const { uid } = said;
    const { attachments, images } = keptAttachments(said.attachments ?? []);
    const bare = userMessage(said, attachments, { runId: newId(), saidAtMs: clock.now() });
    const message = files.length === 0 ? bare : { ...bare, files };
    const send = () => sayMessage(said, message, loading);
    return images.length > 0
      ? sayWithImages(store, { uid, slug: said.slug, runId: message.runId, images, say: send })
      : send();
  }

  return {
    say(said, loading) {
      if (said.replaces !== undefined) return sayInPlace(said, said.replaces, loading);
      return said.files?.length ? sayWithFiles(said, loading) : say(said, loading);
    },

    async answerAgain({ messageId, ...asked }) {
      const said = { ...asked, text: "" };
      const before = await saidBefore(said);
      if (before) return repeat(asked.uid, before);
      const again = await answeredBy(store, asked.uid, messageId);
      const message = userMessage(said, [], { runId: newId(), saidAtMs: clock.now() });
      return sayMessage(said, { ...message, again }, undefined);
    },
  };

  async function sayInPlace(said: NewMessage, replaces: string, loading?: Promise<ThreadRecord | null>) {
    if (!(await saidBefore(said))) await mustBeUsers(store, said.uid, replaces);
    return sayWithFiles(said, loading);
  }

  /** Its files are the thread's before it is stored, so that no process finds the message without them. */
  async function sayWithFiles(said: NewMessage, loading?: Promise<ThreadRecord | null>): Promise<Reply> {
    const { uid, files = [] } = said;
    return say(said, loading, files.length === 0 ? [] : await takenFiles(store, uid, files));
  }

  /** A repeat names an item that it has replaced itself. */
  async function saidBefore({ uid, clientMessageId, text }: NewMessage): Promise<SaidBefore | null> {
    const claim = clientMessageId === null ? null : await store.claimed(uid, clientMessageId);
    if (!claim) return null;
    const { runId, textHash } = claim;
    return { type: "said-before", runId, isSameText: textHash === hashOf(text) };
  }

  function sayMessage(
    { uid, slug, traceparent }: NewMessage,
    message: UserMessage,
    loading: Promise<ThreadRecord | null> | undefined,
  ): Promise<Reply> {
    const reply = createReply(message.runId);

    return claims.onFresh(uid, loading ?? claims.loadToSay(uid), async (record) => {
      if (record?.fence) {
        refuseUnreadable(record);
        const waits = await store.wait(uid, message, max);
        if (waits.type === "free") return "again";
        if (waits.type === "deleted") throw refuseDeleted();
        return waits.type === "said-before" ? repeat(uid, waits) : waitBehind(waits);
      }
      const thread = claims.open({ uid, slug, record, traceparent });
      const event = thread.userSaid(message);
      const result = await thread.claim({ event, message, orWait: { message, max } });
      if (result.type === "said-before") return repeat(uid, result);
      if (result.type === "waiting" || result.type === "full") return waitBehind(result);
      if (result.type === "deleted") throw refuseDeleted();
      if (result.type !== "committed") return "again";
      thread.attach(reply, 0);
      return reply;
    });

    function waitBehind(holder: { type: "waiting"; fence: string } | { type: "full" }): Reply {
      if (holder.type === "full") {
        throw new Refusal("rate-limited", "Too many messages wait in this thread", 1);
      }
      // Its run may have begun before the store's answer came back.
      const thread = held.get(uid);
      if (thread?.run?.runId === reply.runId) thread.attach(reply, 0);
      else following.expect(uid, reply, holder.fence);
      const beginsBranch = message.replaces !== undefined || message.again !== undefined;
      behind.waits({ uid, slug, runId: reply.runId, beginsBranch });
      return reply;
    }
  }
}

function userMessage(
  { api, text, userId, speaker, clientMessageId, traceparent, address = null, replaces }: NewMessage,
  attachments: Attachment[],
  { runId, saidAtMs }: Pick<UserMessage, "runId" | "saidAtMs">,
): UserMessage {
  return {
    runId,
    api,
    text,
    userId,
    speaker,
    saidAtMs,
    ...(clientMessageId === null ? {} : { clientMessageId }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(replaces === undefined ? {} : { replaces }),
    ...(traceparent === null ? {} : { traceparent }),
    ...(address === null ? {} : { address }),
  };
}
