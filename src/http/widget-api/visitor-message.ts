import { hash } from "node:crypto";
import type { Directory } from "../../admission/directory.ts";
import type { Reply } from "../../actors/reply.ts";
import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import type { SentAttachment } from "../../domain/attachments.ts";
import { attributesField } from "../../domain/attributes.ts";
import type { Speaker } from "../../domain/message.ts";
import { mustFit, mustSaySomething, mustTakeImages } from "../fields.ts";
import type { RouteRequest } from "../route.ts";
import type { ThreadRequest } from "./gate.ts";

/** A visitor's message from a page, in any protocol. */
export interface VisitorMessage {
  text: string;
  clientMessageId?: string | undefined;
  attachments?: readonly SentAttachment[] | undefined;
  page?: string | undefined;
  customerContext?: Speaker["customerContext"] | undefined;
  locale?: string | undefined;
}

export interface VisitorMessages {
  /**
   * Throws Refusal("too-large") for a text or a context over the limit, Refusal("invalid") for a message of unseen
   * characters alone.
   */
  mustBeMessage: (message: Pick<VisitorMessage, "text" | "attachments" | "customerContext">) => void;
  /**
   * Saves it in the visitor's thread, and returns the reply. Refusal("invalid") for images if the channel takes none.
   */
  say(incoming: RouteRequest, visit: ThreadRequest<unknown>, message: VisitorMessage): Promise<Reply>;
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

    async say(incoming, { slug, user, uid, address, loading }, message) {
      const { text, page = null, customerContext = null, attachments, locale } = message;
      if (attachments) mustTakeImages(directory.channel(slug), attachments);
      const reply = await threads.say(
        {
          uid,
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
          traceparent: incoming.traceparent,
          address: config.addressMaxTokensPerDay === null ? null : hash("sha256", address),
        },
        loading,
      );
      incoming.note({ runId: reply.runId });
      return reply;
    },
  };
}
