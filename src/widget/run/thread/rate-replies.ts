import { addRater, feedbackOf } from "../../view/message/shown-feedback.ts";
import type { ShownMessage } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { warnOwner } from "../warn-owner.ts";

/** Lets the visitor rate the replies of this conversation. */
export function rateReplies({ api, visitor, view, host }: ConversationDependencies): void {
  const show = ({ key }: ShownMessage, feedback: unknown) =>
    view.edit(key, (shown) => ({ ...shown, feedback }));

  addRater({
    has({ key, id, text }) {
      const shown = view.message(key);
      return shown?.id === id && shown.text === text;
    },

    /** Shown at once, and taken back if the service refuses. */
    async rate(message, given, thanks) {
      show(message, { ...given, isAsked: given.rating === "down" && given.comment === undefined });
      try {
        const { threadId, visitorToken } = await visitor.thread();
        const path = `/threads/${encodeURIComponent(threadId)}/feedback`;
        await api({ path, visitorToken, body: { messageId: message.id, ...given } });
        if (given.rating !== null) view.change({ announcement: thanks });
      } catch (error) {
        show(message, message.feedback);
        view.notify(host.strings().failed, true);
        warnOwner(error);
      }
    },

    skip(message) {
      const { rating, comment } = feedbackOf(message);
      show(message, { rating, comment });
    },
  });
}
