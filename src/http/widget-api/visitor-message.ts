import { hash } from "node:crypto";
import type { Directory } from "../../admission/directory.ts";
import type { AdmittedVisitor } from "../../admission/widget-admission.ts";
import type { Reply } from "../../threads/hold/reply.ts";
import type { Threads } from "../../threads/threads.ts";
import type { Config } from "../../config.ts";
import type { SentAttachment } from "../../domain/threads/attachments.ts";
import { attributesField } from "../../domain/people/attributes.ts";
import type { Speaker } from "../../domain/threads/message.ts";
import { mustFit, mustSaySomething, mustTakeImages } from "../fields.ts";
import type { VisitorThread } from "../endpoint.ts";
import type { RouteRequest } from "../route.ts";

/** A visitor's message from a page, in any protocol. */
export interface VisitorMessage {
  text: string;
  clientMessageId?: string | undefined;
  attachments?: readonly SentAttachment[] | undefined;
  page?: string | undefined;
  customerContext?: Speaker["customerContext"] | undefined;
  locale?: string | undefined;
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
  mustBeMessage: (message: Pick<VisitorMessage, "text" | "attachments" | "customerContext">) => void;
  /**
   * Saves it in the visitor's thread, and returns the reply. Refusal("invalid") for images if the channel takes none.
   */
  say(asked: VisitorAsked, message: VisitorMessage): Promise<Reply>;
}

/** Every visitor's message enters its thread here. */
export function createVisitorMessages(dependencies: {
  threads: Pick<Threads, "say">;
  config: Pick<Config, "limits" | "addressMaxTokensPerDay">;
  directory: Pick<Directory, "channel">;
}): VisitorMessages {
  const { threads, config, directory } = dependencies;
  const { maxTextChars } = config.limits;

  return {
    mustBeMessage({ text, attachments, customerContext }) {
      mustFit(text, maxTextChars);
      mustSaySomething({ text, attachments });
      if (customerContext) mustFit(customerContext, maxTextChars);
    },

    async say({ caller, thread, traceparent, note }, message) {
      const { slug, user, address } = caller;
      const { text, page = null, customerContext = null, attachments, locale } = message;
      if (attachments) mustTakeImages(directory.channel(slug), attachments);
      const reply = await threads.say(
        {
          uid: thread.uid,
          slug,
          api: "widget",
          userId: user.userId,
          speaker: {
            displayName: user.displayName,
            page,
            customerContext,
            ...(locale === undefined ? {} : { locale }),
            ...attributesField(user.attributes),
          },
          text,
          attachments,
          clientMessageId: message.clientMessageId ?? null,
          traceparent,
          address: config.addressMaxTokensPerDay === null ? null : hash("sha256", address),
        },
        thread.loading,
      );
      note({ runId: reply.runId });
      return reply;
    },
  };
}
