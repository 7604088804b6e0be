import { useRef } from "preact/hooks";
import { useLoaded } from "../parts/use-loaded.ts";
import type { Loaded } from "../parts/use-loaded.ts";
import { pathOf } from "../service/api.ts";
import { Problem } from "../service/problem.ts";
import type { ThreadView, UserView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { useUserChange } from "../users/user-change.ts";
import type { TalkState } from "./talk-state.ts";

/** The facts of a conversation beside its messages. */
export interface Known {
  /** The thread as last read. */
  thread: Loaded<ThreadView | null>;
  /** The same; during a reload the previous value. */
  facts: ThreadView | null;
  /** Whose conversation it is, and how that user is changed. */
  user: UserView | null;
  change: ReturnType<typeof useUserChange>;
}

/** Reads the facts, and again when who answers changes. */
export function useKnown(slug: string, id: string, person: TalkState["person"]): Known {
  const { api } = useConsole();
  const thread = useLoaded<ThreadView | null>(
    (signal) => orUnknown(api.get(pathOf("channels", slug, "threads", id), {}, signal)),
    [slug, id, person],
  );
  const known = useRef<ThreadView | null>(null);
  if (thread.value !== null || known.current?.id !== id) known.current = thread.value;
  const facts = known.current;
  const userId = facts?.userId ?? "";
  const user = useLoaded<UserView | null>(
    (signal) =>
      userId === ""
        ? Promise.resolve(null)
        : orUnknown(api.get(pathOf("channels", slug, "users", userId), {}, signal)),
    [slug, userId],
  );
  return { thread, facts, user: user.value, change: useUserChange(slug, user.set) };
}

/** null if the service does not have it; the rest is shown all the same. */
async function orUnknown<Value>(asked: Promise<Value>): Promise<Value | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}
