import { addRater, feedbackOf } from "../../view/message/shown-feedback.ts";
import type { ShownMessage } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { inTurn } from "../in-turn.ts";
import { warnOwner } from "../warn-owner.ts";

/** Lets the visitor rate the replies of this conversation. */
export function rateReplies({ api, visitor, view, host }: ConversationDependencies): void {
  const turn = inTurn();
  const show = ({ key }: ShownMessage, feedback: unknown) =>
    view.edit(key, (shown) => ({ ...shown, feedback }));
  /** Unless the visitor has gone on meanwhile. */
  const showInstead = ({ key }: ShownMessage, before: unknown, feedback: unknown) =>
    view.edit(key, (shown) => (shown.feedback === before ? { ...shown, feedback } : shown));

  addRater({
    has({ key, id, text }) {
      const shown = view.message(key);
      return shown?.id === id && shown.text === text;
    },

    /** Shown at once, and taken back if the service refuses. The field for words stays until they are kept. */
    async rate(message, given, thanks) {
      const shown = { ...given, isAsked: given.rating === "down" };
      show(message, shown);
      try {
        const { threadId, visitorToken } = await visitor.thread();
        const path = `/threads/${encodeURIComponent(threadId)}/feedback`;
        await turn(async () => api({ path, visitorToken, body: { messageId: message.id, ...given } }));
        if (given.comment !== undefined) showInstead(message, shown, given);
        if (given.rating !== null) view.change({ announcement: thanks });
      } catch (error) {
        showInstead(message, shown, message.feedback);
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
