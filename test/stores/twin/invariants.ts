import type { User } from "../../../src/domain/people/user.ts";
import type { ThreadEntry, ThreadState } from "../../../src/store.ts";

/** Everything that an implementation holds, its indexes included, in words that every implementation shares. */
export interface StoreDump {
  users: { slug: string; user: User }[];
  /** Where external ids lead: `x`. */
  accounts: { slug: string; userId: string }[];
  /** The list of users by creation: `us`. */
  listed: { slug: string; userId: string }[];
  tokens: { slug: string; userId: string }[];
  /** Users who are to be deleted: `deleting`. */
  deleting: { slug: string; userId: string }[];
  /** Thread names: `n`. */
  names: { slug: string; userId: string; entry: ThreadEntry }[];
  threads: ThreadDump[];
  /** The index of held threads; `isListed`: by a process that is known to hold something there. */
  held: { processId: string; uid: string; fence: string; isListed: boolean }[];
  /** The index of deadlines. */
  due: { uid: string; atMs: number }[];
}

export interface ThreadDump {
  uid: string;
  rev: number;
  fence: string | null;
  state: ThreadState;
  snapshot: string | null;
  /** When its call or its wait expires. */
  dueAtMs: number | null;
  /** Of the run that is kept whole. */
  runId: string | null;
  messageCount: number;
  /** In the order in which they are stored. */
  messageIds: string[];
  /** Of the list of runs, oldest first. */
  runIds: string[];
  /** Run ids of the queue, its head first, and of the waiting messages that are stored. */
  queue: string[];
  waiting: string[];
}

/** What does not fit together in a store; empty where all is well. One sentence each. */
export function checkInvariants(dump: StoreDump): string[] {
  return [...userFaults(dump), ...dump.threads.flatMap(threadFaults), ...indexFaults(dump)];
}

function waitsAlone(state: ThreadState | undefined): boolean {
  return state === "awaiting" || state === "waiting_for_person" || state === "with_person";
}

function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const isAgain = seen.has(value);
    seen.add(value);
    return isAgain;
  });
}

function userFaults({ users, accounts, listed, tokens, deleting, names }: StoreDump): string[] {
  const keyOf = (slug: string, userId: string) => `${slug}/${userId}`;
  const known = new Map(users.map(({ slug, user }) => [keyOf(slug, user.userId), user]));
  const faults: string[] = [];
  const expectUser = (what: string, { slug, userId }: { slug: string; userId: string }) => {
    if (!known.has(keyOf(slug, userId))) faults.push(`${what} leads to no user: ${keyOf(slug, userId)}`);
  };
  for (const account of accounts) {
    expectUser("an external id", account);
    if (known.get(keyOf(account.slug, account.userId))?.externalId === null) {
      faults.push(`an external id leads to an anonymous user: ${keyOf(account.slug, account.userId)}`);
    }
  }
  for (const entry of listed) expectUser("the list of users", entry);
  // The last step of a deletion erases the tokens.
  const leaving = new Set(deleting.map(({ slug, userId }) => keyOf(slug, userId)));
  for (const token of tokens) if (!leaving.has(keyOf(token.slug, token.userId))) expectUser("a token", token);
  for (const name of names) expectUser("a thread's name", name);

  const reached = accounts.map(({ slug, userId }) => keyOf(slug, userId));
  const inList = listed.map(({ slug, userId }) => keyOf(slug, userId));
  for (const [key, user] of known) {
    if (user.externalId !== null && !reached.includes(key)) faults.push(`an account is not reached: ${key}`);
    if (!inList.includes(key)) faults.push(`a user is not listed: ${key}`);
  }
  for (const key of repeated(reached)) faults.push(`two external ids lead to one user: ${key}`);
  for (const key of repeated(inList)) faults.push(`a user is listed twice: ${key}`);
  const owned = names.map(({ slug, entry }) => `${slug}/${entry.uid}`);
  for (const uid of repeated(owned)) faults.push(`a thread has two names: ${uid}`);
  return faults;
}

function threadFaults(thread: ThreadDump): string[] {
  const { uid, rev, fence, snapshot, runId, messageCount, messageIds, runIds, queue, waiting } = thread;
  const faults: string[] = [];
  const fault = (sentence: string) => faults.push(`thread ${uid}: ${sentence}`);

  if (messageIds.length !== messageCount) fault(`counts ${messageCount} messages, has ${messageIds.length}`);
  const hole = messageIds.findIndex((id, index) => id !== String(index + 1));
  if (hole !== -1) fault(`message ${hole + 1} has the id ${String(messageIds[hole])}`);

  if ((rev === 0) !== (snapshot === null))
    fault(`revision ${rev}, snapshot ${snapshot === null ? "none" : "kept"}`);
  // A person may be asked for before the first run.
  if (rev === 0 && runId !== null) fault(`revision ${rev}, run ${String(runId)}`);
  if (runIds.length > 2 * rev) fault(`${runIds.length} runs in ${rev} revisions`);
  if (runId !== null && !runIds.includes(runId)) fault(`its run ${runId} is not listed`);
  for (const id of repeated(runIds)) fault(`run ${id} is listed twice`);

  if (queue.length > 0 && fence === null) fault("a queue, and nobody holds it");
  for (const id of repeated(queue)) fault(`message ${id} waits twice`);
  if (queue.toSorted().join() !== waiting.toSorted().join()) fault("the queue and its messages differ");
  for (const id of queue) if (runIds.includes(id)) fault(`message ${id} waits, and was started`);
  return faults;
}

function indexFaults({ threads, held, due }: StoreDump): string[] {
  const faults: string[] = [];
  const byUid = new Map(threads.map((thread) => [thread.uid, thread]));
  for (const { processId, uid, fence, isListed } of held) {
    if (!isListed) faults.push(`thread ${uid} is held by ${fence}, and its process is on no list`);
    if (byUid.get(uid)?.fence !== fence)
      faults.push(`thread ${uid} is listed as held by ${fence}, and is not`);
    if (!fence.startsWith(`${processId}:`)) faults.push(`the hold of ${fence} is listed under ${processId}`);
  }
  for (const { uid, atMs } of due) {
    const thread = byUid.get(uid);
    if (thread?.dueAtMs !== atMs) faults.push(`thread ${uid} is listed as due at ${atMs}, and is not`);
    if (!waitsAlone(thread?.state) || thread?.fence !== null) {
      faults.push(`thread ${uid} has a deadline, and does not rest`);
    }
  }
  for (const uid of repeated(held.map((hold) => hold.uid))) faults.push(`thread ${uid} is held twice`);
  for (const uid of repeated(due.map((entry) => entry.uid))) faults.push(`thread ${uid} has two deadlines`);
  for (const { uid, fence, state } of threads) {
    if (fence !== null && !held.some((hold) => hold.uid === uid))
      faults.push(`thread ${uid} is held, unlisted`);
    if (fence === null && waitsAlone(state) && !due.some((entry) => entry.uid === uid)) {
      faults.push(`thread ${uid} waits without a deadline`);
    }
  }
  return faults;
}
