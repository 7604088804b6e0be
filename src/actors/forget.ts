import type { Deletion, DeletionStore, ErasedThread, SealedTelling } from "../store.ts";

/** What webhooks are told of a deletion. */
export type TellsDeletion = (deletion: Deletion) => Promise<SealedTelling[]>;

export type Erased = ErasedThread & { uid: string };

/** A user may have thousands of threads: so many are erased at once. */
const AT_ONCE = 16;

/**
 * Deletes a thread or a user, with everything of theirs but the user's tokens. From the first step on somebody will carry
 * it out; when this resolves, nothing leads there any more, and nothing that is on its way can bring it back.
 */
export async function forget(
  store: DeletionStore,
  deletion: Deletion,
  onErased?: (erased: Erased) => void,
  tells?: TellsDeletion,
): Promise<void> {
  await store.planDeletion(deletion);
  await carryOut(store, deletion, onErased, tells);
}

/** What is planned; the same again erases what came meanwhile from an instance of an earlier version. */
export async function carryOut(
  store: DeletionStore,
  deletion: Deletion,
  onErased: (erased: Erased) => void = () => {},
  tells: TellsDeletion = async () => [],
): Promise<void> {
  const left = await unlist(store, deletion, await tells(deletion));
  const eraseNext = async (): Promise<void> => {
    for (let uid = left.pop(); uid !== undefined; uid = left.pop()) {
      onErased({ uid, ...(await store.eraseThread(uid, deletion.atMs)) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, eraseNext));
}

/** Takes it off all names and lists; resolves to the threads that go with it. */
async function unlist(
  store: DeletionStore,
  deletion: Deletion,
  tells: readonly SealedTelling[],
): Promise<string[]> {
  if (deletion.kind === "user") return store.unlistUser(deletion, tells);
  await store.unlistThread(deletion, tells);
  return [deletion.id];
}
