import { useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import type { UserView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { nameOf } from "./names.tsx";

export interface UserFields {
  blocked?: boolean;
  whitelisted?: boolean;
  displayName?: string | null;
}

/** Changes a user, and says what was done. */
export function useUserChange(slug: string, onChanged: (user: UserView) => void) {
  const { api, tell } = useConsole();
  const [trouble, setTrouble] = useState<string | null>(null);
  return {
    trouble,
    /** False: it did not happen, and `trouble` says why. */
    async send(user: UserView, fields: UserFields): Promise<boolean> {
      setTrouble(null);
      try {
        const changed = await api.send<UserView>(
          "PATCH",
          pathOf("channels", slug, "users", user.userId),
          fields,
        );
        onChanged(changed);
        tell(wordsFor(changed, fields));
        return true;
      } catch (error) {
        setTrouble(messageOf(error));
        return false;
      }
    },
  };
}

function wordsFor(user: UserView, { blocked, whitelisted, displayName }: UserFields): string {
  const name = nameOf(user);
  if (blocked !== undefined) return blocked ? `${name} is blocked` : `${name} is not blocked any more`;
  if (whitelisted !== undefined)
    return whitelisted ? `${name} is whitelisted` : `${name} is not whitelisted any more`;
  return displayName === null ? "The name is gone" : `The name is ${name}`;
}
