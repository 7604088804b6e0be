import { hash } from "node:crypto";
import type { Directory } from "../../admission/directory.ts";
import type { AdmittedVisitor } from "../../admission/widget-admission.ts";
import type { Reply } from "../../threads/hold/reply.ts";
import type { SentDocument } from "../../threads/say/files.ts";
import type { Threads } from "../../threads/threads.ts";
import type { Config } from "../../config.ts";
import type { SentAttachment } from "../../domain/threads/attachments.ts";
import { Refusal } from "../../domain/refusal.ts";
import { attributesField } from "../../domain/people/attributes.ts";
import type { Speaker } from "../../domain/threads/message.ts";
import { mustFit, mustSaySomething, mustTakeFiles, mustTakeImages } from "../fields.ts";
import type { VisitorThread } from "../endpoint.ts";
import type { RouteRequest } from "../route.ts";

/** A visitor's message from a page, in any protocol. */
export interface VisitorMessage {
  text: string;
  clientMessageId?: string | undefined;
  attachments?: readonly SentAttachment[] | undefined;
  files?: readonly string[] | undefined;
  /** Files in themselves, which come with the message and not before it. */
  documents?: readonly SentDocument[] | undefined;
  page?: string | undefined;
  customerContext?: Speaker["customerContext"] | undefined;
  locale?: string | undefined;
  replaces?: string | undefined;
}

/** A visitor's request in a thread. */
export type VisitorAsked = Pick<RouteRequest, "traceparent" | "note"> & {
  caller: AdmittedVisitor;
  thread: VisitorThread;
};

export interface VisitorMessages {
  /**
   * Throws Refusal("too-large") for a text or a context over the limit, Refusal("invalid") for a message of unseen
   * characters alone.
   */
  mustBeMessage: (
    message: Pick<VisitorMessage, "text" | "attachments" | "files" | "documents" | "customerContext">,
  ) => void;
  /** Throws Refusal("too-large") for a context over the limit. */
  mustFitContext: (from: Pick<VisitorMessage, "customerContext">) => void;
  /**
   * Saves it in the visitor's thread, and returns the reply. Refusal("invalid") for images if the channel takes none.
   */
  say(this: void, asked: VisitorAsked, message: VisitorMessage): Promise<Reply>;
  /** Has the message of a reply answered once more. */
  answerAgain(asked: VisitorAsked, again: AnotherReply): Promise<Reply>;
}

type AnotherReply = { messageId: string } & Pick<VisitorMessage, "clientMessageId"> & SpokenFrom;

/** What a page says of itself and its visitor with a message. */
type SpokenFrom = Pick<VisitorMessage, "page" | "customerContext" | "locale">;

/** Every visitor's message enters its thread here. */
export function createVisitorMessages(dependencies: {
  threads: Pick<Threads, "say" | "answerAgain" | "files">;
  config: Pick<Config, "limits" | "files" | "addressMaxTokensPerDay">;
  directory: Pick<Directory, "channel">;
}): VisitorMessages {
  const { threads, config, directory } = dependencies;
  const { maxTextChars } = config.limits;

  return {
    mustBeMessage({ text, attachments, files = [], documents = [], customerContext }) {
      mustFit(text, maxTextChars);
      mustSaySomething({ text, attachments, files: [...files, ...documents] });
      if (customerContext) mustFit(customerContext, maxTextChars);
    },

    mustFitContext({ customerContext }) {
      if (customerContext) mustFit(customerContext, maxTextChars);
    },

    async say(asked, message) {
      const { text, attachments, clientMessageId = null, replaces } = message;
      const files = await filesOf(asked, message);
      if (attachments) mustTakeImages(directory.channel(asked.caller.slug), attachments);
      const said = { ...spokenIn(asked, message), text, attachments, files, clientMessageId, replaces };
      const reply = await threads.say(said, asked.thread.loading);
      asked.note({ runId: reply.runId });
      return reply;
    },

    async answerAgain(asked, { messageId, clientMessageId = null, ...from }) {
      const reply = await threads.answerAgain({ ...spokenIn(asked, from), messageId, clientMessageId });
      asked.note({ runId: reply.runId });
      return reply;
    },
  };

  async function filesOf(
    { caller: { slug }, thread: { uid } }: VisitorAsked,
    { files = [], documents = [], clientMessageId }: VisitorMessage,
  ): Promise<readonly string[]> {
    if (documents.length === 0) return files;
    mustTakeFiles(directory.channel(slug));
    if (documents.some(({ bytes }) => bytes.length > config.files.maxBytes)) throw new Refusal("too-large");
    const message = { uid, slug, clientMessageId: clientMessageId ?? null };
    return [...files, ...(await threads.files.keepAll(message, documents))];
  }

  function spokenIn(
    { caller: { slug, user, address }, thread: { uid }, traceparent }: VisitorAsked,
    from: SpokenFrom,
  ) {
    const { page = null, customerContext = null, locale } = from;
    return {
      uid,
      slug,
      api: "widget" as const,
      userId: user.userId,
      speaker: {
        displayName: user.displayName,
        page,
        customerContext,
        ...(locale === undefined ? {} : { locale }),
        ...attributesField(user.attributes),
      },
      traceparent,
      address: config.addressMaxTokensPerDay === null ? null : hash("sha256", address),
    };
  }
}
