import type { UserView } from "../service/views.ts";

/** How a user is called: by name, else by the site's id, else by what is known. */
export function nameOf({
  displayName,
  externalUserId,
}: Pick<UserView, "displayName" | "externalUserId">): string {
  return displayName ?? externalUserId ?? "Anonymous";
}

export function UserFlags({ user }: { user: Pick<UserView, "blocked" | "whitelisted"> }) {
  return (
    <span class="flags">
      {user.blocked && <span class="flag bad">blocked</span>}
      {user.whitelisted && <span class="flag">whitelisted</span>}
    </span>
  );
}
