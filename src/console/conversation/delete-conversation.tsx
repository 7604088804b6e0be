import { Question } from "../parts/question.tsx";
import { pathOf } from "../service/api.ts";
import { isGone } from "../service/problem.ts";
import { useConsole } from "../shell/console-context.ts";
import { countedText } from "../users/what-goes.ts";

/** Says what will be deleted with a conversation, and asks. `messages`: null if their number is unknown. */
export function DeleteConversation({
  slug,
  id,
  visitor,
  messages,
  onClose,
  onDeleted,
}: {
  slug: string;
  id: string;
  visitor: string;
  messages: number | null;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { api } = useConsole();
  return (
    <Question
      title="Delete this conversation?"
      yes="Delete it"
      onClose={onClose}
      onYes={async () => {
        // Already deleted meanwhile counts as deleted.
        await api.send("DELETE", pathOf("channels", slug, "threads", id)).catch(isGone);
        onDeleted();
      }}
    >
      <p>This cannot be undone. It deletes:</p>
      <ul class="goes">
        <li>
          {messages === null ? "all its messages" : countedText(messages, "message", "messages")} with{" "}
          {visitor}
        </li>
        <li>the record of its runs, and the reply that is being written, if there is one</li>
      </ul>
      <p>
        The visitor's pages begin a new conversation. The user stays. The audit keeps that it happened, and by
        whom.
      </p>
    </Question>
  );
}
