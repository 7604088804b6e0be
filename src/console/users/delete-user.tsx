import { useLoaded } from "../parts/use-loaded.ts";
import { Question } from "../parts/question.tsx";
import { pathOf } from "../service/api.ts";
import { isGone } from "../service/problem.ts";
import type { UserView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { nameOf } from "./names.tsx";
import { countOf } from "./count-of-user.ts";
import { goesText } from "./what-goes.ts";

/** Says what goes, and what stays, before a user is deleted. */
export function DeleteUser({
  slug,
  user,
  onClose,
  onDeleted,
}: {
  slug: string;
  user: UserView;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { api } = useConsole();
  const { userId } = user;
  const count = useLoaded((signal) => countOf(api, slug, userId, signal), [slug, userId]);
  const goes = count.value ? goesText(count.value) : (count.trouble ?? "Conversations are counted …");
  return (
    <Question
      title={`Delete ${nameOf(user)}?`}
      yes="Delete the user"
      onClose={onClose}
      onYes={async () => {
        // Whoever was deleted meanwhile is deleted.
        await api.send("DELETE", pathOf("channels", slug, "users", userId)).catch(isGone);
        onDeleted();
      }}
    >
      <p>This cannot be undone. It deletes:</p>
      <ul class="goes">
        <li>
          <span role="status">{goes}</span>
        </li>
        <li>the name, the attributes and the ids of this user</li>
        <li>every sign-in: the visitor's pages begin anew</li>
      </ul>
      <p>
        {user.blocked && "The block goes, too. "}
        Whoever comes with the same id is a stranger. The audit keeps that it happened, and by whom. If the
        data is wanted, export it first.
      </p>
    </Question>
  );
}
