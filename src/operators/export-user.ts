import { hasKeptImages, addressesOf } from "../domain/threads/attachments.ts";
import { attributesField } from "../domain/people/attributes.ts";
import type { MessageFile } from "../domain/threads/files.ts";
import type { Message } from "../domain/threads/message.ts";
import type { User } from "../domain/people/user.ts";
import type { DeskStore, RunSummary, ThreadEntry, ThreadState, ThreadStore, UserStore } from "../store.ts";
import type { DeskOfThreads } from "../threads/desk/desk.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";
import { answererChangeView } from "./threads/answerer.ts";
import { noteView, ratingView } from "./threads/desk.ts";
import { viewOfSummary } from "./threads/history-summary.ts";
import { noteReading, runView } from "./threads/threads.ts";
import { userView } from "./users.ts";

/** The records of an export, in this order: the user, their sign-ins, then each thread with its messages and their files, their summary if there is one, what operators keep of it, and its runs. */
export type ExportedRecord =
  | ({ type: "user" } & ReturnType<typeof userView> & Pick<User, "attributes">)
  /** The user has signed in to this MCP server of the channel; tokens are never exported. */
  | { type: "signIn"; server: string }
  | { type: "thread"; id: string; threadId: string; createdAt: number; state: ThreadState }
  /** `addresses`: of its attachments, in order; null for a lost image. */
  | { type: "message"; thread: string; message: Message; addresses: (string | null)[] }
  /** After the first message that names it. `url`: its bytes (data:); null if they are lost. */
  | { type: "file"; thread: string; file: MessageFile; url: string | null }
  | {
      type: "desk";
      thread: string;
      labels: string[];
      notes: ReturnType<typeof noteView>[];
      address?: string;
      ratings: ReturnType<typeof ratingView>[];
    }
  | { type: "handoffs"; thread: string; items: ReturnType<typeof answererChangeView>[] }
  | ({ type: "summary"; thread: string } & ReturnType<typeof viewOfSummary>)
  | ({ type: "run"; thread: string } & ReturnType<typeof runView>);

/** The changes of who answers in a thread. */
type ChangesOf = DeskOfThreads["everyChange"];

type Exporting = Pick<ThreadStore, "look" | "run" | "keptImages" | "keptFileBytes" | "historySummary"> &
  Pick<DeskStore, "desk" | "notes"> &
  Pick<UserStore, "threads" | "grantedServers">;

/**
 * Everything stored about a user, oldest first, record by record: only one read of a thread is in memory, however long
 * the thread is. The read is written to the audit first.
 */
export async function exportUser(
  acting: Acting<Exporting>,
  slug: string,
  user: User,
  changesOf: ChangesOf,
): Promise<AsyncGenerator<ExportedRecord>> {
  await note(acting, { action: "users.export", target: user.userId, slug });
  return recordsOf(acting.store, slug, user, changesOf);
}

/** Likewise of one thread. */
export async function exportThread(
  acting: Acting<Exporting>,
  slug: string,
  thread: ThreadEntry,
  changesOf: ChangesOf,
): Promise<AsyncGenerator<ExportedRecord>> {
  await noteReading(acting, slug, thread.uid);
  return threadRecords(acting.store, thread, changesOf);
}

async function* recordsOf(
  store: Exporting,
  slug: string,
  user: User,
  changesOf: ChangesOf,
): AsyncGenerator<ExportedRecord> {
  yield { type: "user", ...userView(user), ...attributesField(user.attributes) };
  for (const server of await store.grantedServers(slug, user.userId)) yield { type: "signIn", server };
  for (const entry of await store.threads(slug, user.userId)) yield* threadRecords(store, entry, changesOf);
}

async function* threadRecords(
  store: Exporting,
  entry: ThreadEntry,
  changesOf: ChangesOf,
): AsyncGenerator<ExportedRecord> {
  const { uid: thread, threadId, createdAtMs } = entry;
  const { state } = await store.look(thread, null);
  yield { type: "thread", id: thread, threadId, createdAt: createdAtMs, state };
  const told = new Set<string>();
  for await (const message of messagesOf(store, thread)) {
    const { attachments = [], runId } = message;
    const images = hasKeptImages(attachments) ? await store.keptImages(thread, runId) : [];
    yield { type: "message", thread, message, addresses: addressesOf(attachments, images) };
    for (const file of message.files ?? []) {
      if (told.has(file.id)) continue;
      told.add(file.id);
      const bytes = await store.keptFileBytes(thread, file.id);
      const url = bytes && `data:${file.type};base64,${Buffer.from(bytes).toString("base64")}`;
      yield { type: "file", thread, file, url };
    }
  }
  const summary = await store.historySummary(thread);
  if (summary) yield { type: "summary", thread, ...viewOfSummary(summary, { seesText: true }) };
  const { rev, labels, address, ratings = [] } = await store.desk(thread);
  if (rev > 0)
    yield {
      type: "desk",
      thread,
      labels,
      notes: (await store.notes(thread)).map(noteView),
      ...(address === undefined ? {} : { address }),
      ratings: ratings.map(ratingView),
    };
  const changes = await changesOf(thread);
  if (changes.length > 0) yield { type: "handoffs", thread, items: changes.map(answererChangeView) };
  // Reads the thread again from the start: every run has an item in the history, so no holder of a run is asked.
  for await (const run of runsOf(store, thread)) yield { type: "run", thread, ...runView(run) };
}

async function* messagesOf(store: Exporting, uid: string): AsyncGenerator<Message> {
  for (let from = 0; ;) {
    const { messages, to, messageCount } = await store.look(uid, from, { all: true });
    yield* messages;
    if (to <= from || to >= messageCount) return;
    from = to;
  }
}

/** A message that a person answered has no run; and some runs have a reply alone. */
async function* runsOf(store: Exporting, uid: string): AsyncGenerator<RunSummary> {
  const told = new Set<string>();
  for await (const { runId } of messagesOf(store, uid)) {
    if (told.has(runId)) continue;
    told.add(runId);
    const run = await store.run(uid, runId);
    if (run) yield run;
  }
}
