import { VISITOR } from "../domain/people/operator.ts";
import type { Actor } from "../domain/people/operator.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

/** Performs deletions: the serving instance, or the command line beside it (../threads/delete/forgetting.ts). */
export interface Forgets {
  /** Resolves when the deletion is durable. */
  thread(slug: string, uid: string): Promise<void>;
  user(slug: string, userId: string): Promise<void>;
}

/** Deletes a thread with everything in it. The audit keeps the fact, the actor and the id. */
export async function deleteThread(
  acting: Acting<unknown>,
  forgets: Forgets,
  slug: string,
  uid: string,
): Promise<void> {
  await note(acting, { action: "threads.delete", target: uid, slug });
  await forgets.thread(slug, uid);
}

/** Deletes a user with all threads and tokens. The same external id later is a new user. */
export async function deleteUser(
  acting: Acting<unknown>,
  forgets: Forgets,
  slug: string,
  userId: string,
): Promise<void> {
  await note(acting, { action: "users.delete", target: userId, slug });
  await forgets.user(slug, userId);
}

/** What a visitor does with their own thread is in the audit, too. */
export function asVisitor<Asked>(parts: Omit<Acting<Asked>, "operator">): Acting<Asked> {
  const operator: Actor = VISITOR;
  return { ...parts, operator };
}
