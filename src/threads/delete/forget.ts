import type { Deletion, DeletionStore, ErasedThread, SealedTelling } from "../../store.ts";

/** The webhook events of a deletion. */
export type TellsDeletion = (deletion: Deletion) => Promise<SealedTelling[]>;

export type Erased = ErasedThread & { uid: string };

/** How many threads are erased at once: a user may have thousands. */
const AT_ONCE = 16;

/**
 * Deletes a thread or a user, with all their data. After the first step, some instance will finish the deletion even if this one dies. When this resolves, nothing refers to the data any more, and no late write
 * can bring it back.
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

/** Carries out a planned deletion; may be repeated. */
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

/** Removes it from all names and lists; resolves to the uids of the threads to erase. */
async function unlist(
  store: DeletionStore,
  deletion: Deletion,
  tells: readonly SealedTelling[],
): Promise<string[]> {
  if (deletion.kind === "user") return store.unlistUser(deletion, tells);
  await store.unlistThread(deletion, tells);
  return [deletion.id];
}
