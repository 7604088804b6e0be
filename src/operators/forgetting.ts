import { VISITOR } from "../domain/operator.ts";
import type { Actor } from "../domain/operator.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

/** Whoever deletes: the instance that serves, or the command line beside it (../actors/forgetting.ts). */
export interface Forgets {
  /** Resolves when the deletion is durable. */
  thread(slug: string, uid: string): Promise<void>;
  user(slug: string, userId: string): Promise<void>;
}

/** With everything in it. The audit keeps that it happened, by whom, and the id. */
export async function deleteThread(
  acting: Acting<unknown>,
  forgets: Forgets,
  slug: string,
  uid: string,
): Promise<void> {
  await note(acting, { action: "threads.delete", target: uid, slug });
  await forgets.thread(slug, uid);
}

/** With all its threads and tokens. Who comes with the same external id is a stranger. */
export async function deleteUser(
  acting: Acting<unknown>,
  forgets: Forgets,
  slug: string,
  userId: string,
): Promise<void> {
  await note(acting, { action: "users.delete", target: userId, slug });
  await forgets.user(slug, userId);
}

/** What a visitor does with a thread of its own is in the audit, too. */
export function asVisitor<Asked>(parts: Omit<Acting<Asked>, "operator">): Acting<Asked> {
  const operator: Actor = VISITOR;
  return { ...parts, operator };
}
