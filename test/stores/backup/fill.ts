import { newFence } from "../../../src/domain/threads/fence.ts";
import type { Message } from "../../../src/domain/threads/message.ts";
import type { Store } from "../../../src/store.ts";
import {
  DAY,
  sampleChannel,
  sampleCommit,
  sampleMessage,
  sampleRun,
  sampleWaiting,
  SLUG,
} from "../samples.ts";
import { sampleDocument, samplePage, sampleSource } from "../contract/knowledge.ts";
import { merged } from "../users.ts";

const LONG_RUNS = 241;
const MESSAGES_IN_A_RUN = 5;
/** Messages of a thread that is longer than any page in which a thread is read or written. */
export const LONG = LONG_RUNS * MESSAGES_IN_A_RUN;

const AT_MS = Date.UTC(2026, 10, 21);
const HOUR_MS = 3_600_000;

/** The process that held threads when the store was left. */
export const HOLDER = "gone-process";

const steps = (texts: string[], from: number, changes: Partial<Message> = {}) =>
  texts.map((content, i) => sampleMessage(from + i, { content, ...changes }));

/** Something of every kind of record, in every state that a thread can rest in or be left in. */
export async function fillStore(store: Store): Promise<void> {
  await store.putChannel(sampleChannel());
  await store.putChannel(sampleChannel({ slug: "bot", kind: "transport", publishableKey: null, agent: {} }));
  await store.blockIp("192.0.2.0/24");
  await store.addOperator({ name: "Zoë", role: "agent", keyHash: "ab".repeat(32), channels: [SLUG] });
  const sessions = [{ keyHash: "cd".repeat(32), endsAtMs: 1_800_000_000_000 }];
  const signIn = { issuer: "https://login.example", subject: "s-1", sessions };
  await store.addOperator({ name: "ada", role: "agent", keyHash: "ef".repeat(32), channels: null, signIn });
  for (const action of ["ips.block", "operators.add", "thread.read"]) {
    const entry = { atMs: AT_MS, operator: "Zoë", action, target: "one", slug: null };
    await store.appendAudit({ ...entry, detail: { from: "192.0.2.0/24" } });
  }
  await fillKnowledge(store);
  await fillUsers(store);
  await fillThreads(store);
}

async function fillKnowledge({ knowledge }: Store): Promise<void> {
  await knowledge?.leaseKnowledge(SLUG, HOUR_MS);
  for (let nth = 0; nth < 12; nth++) {
    const url = `https://shop.example/${nth}`;
    await knowledge?.keepPage(SLUG, "site", samplePage(url), sampleDocument(`Text ${nth}`));
  }
  await knowledge?.keepSource(SLUG, sampleSource("site"), { rev: "of the site" });
  await knowledge?.releaseKnowledge(SLUG);
}

async function fillUsers(store: Store): Promise<void> {
  const visitor = { slug: SLUG, snapshot: "visitor", ttlMs: 24 * HOUR_MS, atMs: AT_MS };
  for (const name of ["ann", "bob", "cid"]) {
    await store.mintVisitor({ ...visitor, tokenHash: `hash-${name}`, userId: name });
    for (const nth of ["one", "two"]) await addThread(store, name, `${name}-${nth}`);
  }
  await store.flagUser(SLUG, "cid", { blocked: true });
  await store.spendTokens({ slug: SLUG, userId: "ann", day: DAY, tokens: 7 });

  const caller = { slug: SLUG, displayName: "Kim \u2028 Ü", thread: null, creates: true, atMs: AT_MS + 5 };
  const attributes = { plan: "pro \u2028", seats: 3, trial: false };
  await store.admitUser({ ...caller, externalId: "kim@example.com/é", newUserId: "kim", attributes });
  await store.flagUser(SLUG, "kim", { whitelisted: true });
  // Has threads of the account's names: one becomes an alias.
  await addThread(store, "kim", "bob-one", "kim-own");
  await merged(store, "hash-bob", "kim@example.com/é");
  const ofBot = { ...caller, slug: "bot", externalId: "many", displayName: null, newUserId: "many" };
  await store.admitUser(ofBot);
  for (let i = 0; i < 450; i++) {
    const thread = { threadId: `name ${i}`, uid: `many-${i}` };
    await store.addThread({ slug: "bot", userId: "many", ...thread, atMs: AT_MS });
  }
}

async function addThread(store: Store, userId: string, name: string, uid = name): Promise<void> {
  // Before its messages.
  await store.addThread({ slug: SLUG, userId, threadId: name, uid, atMs: name.length });
}

async function fillThreads(store: Store): Promise<void> {
  // Only a catalog; and bob-two, which nothing was ever said in.
  await store.setCatalog("ann-one", SLUG, [{ name: "cart", description: "The cart" }]);
  await runningWithQueue(store, "ann-two");
  await awaiting(store, "bob-one");
  await longThread(store, "cid-one");
  const summary = { text: "They met. Ü", upTo: 4, atMs: AT_MS, model: "p/m", usage: { input: 9, output: 2 } };
  for (const uid of ["ann-one", "cid-one"])
    await store.keepHistorySummary({ uid, slug: SLUG, summary, after: 0 });
  await keptInParts(store, "cid-two");
  await idle(store, "many-7");
}

async function idle(store: Store, uid: string): Promise<void> {
  const run = sampleRun("r1", { outcome: "done", terminal: { type: "done", elapsedMs: 3 } });
  const said = { uid, slug: "bot", run, state: "idle", holds: false } as const;
  const messages = [...steps(["Hello 👋\n"], 1), ...steps(["Hi"], 2, { role: "assistant", outcome: "done" })];
  await store.commit(sampleCommit({ opId: "idle", fence: newFence(HOLDER), ...said, messages }));
  const feedback = { rating: "down", comment: "No 👎", atMs: AT_MS } as const;
  await store.rate({ uid, opId: "rates", messageId: "2", feedback, atMs: AT_MS, tells: [] });
}

/** A run in the middle of its turn; two messages wait, one of them with an id of its own. */
async function runningWithQueue(store: Store, uid: string): Promise<void> {
  const fence = newFence(HOLDER, "running");
  const first = { ...sampleWaiting("r1"), clientMessageId: "first id" };
  const orWait = { message: first, max: 8 };
  await store.setCatalog(uid, SLUG, [{ name: "cart" }]);
  const messages = [sampleMessage(1, { clientMessageId: "first id" })];
  await store.commit(sampleCommit({ opId: "runs", fence, uid, messages, orWait }));
  await store.wait(uid, { ...sampleWaiting("r2"), clientMessageId: "é/id" }, 8);
  await store.wait(uid, sampleWaiting("r3"), 8);
}

async function awaiting(store: Store, uid: string): Promise<void> {
  const fence = newFence(HOLDER);
  await store.keepImages({ uid, runId: "r1", images: ["data:image/png;base64,iVBORw0KGgo="] });
  const file = { id: "f1", name: "a.txt", type: "text/plain" as const, bytes: 1 };
  await store.keepUpload({ uid, slug: SLUG, file: { ...file, text: "a" }, bytes: Buffer.from("a") });
  await store.takeUploads(uid, ["f1"]);
  const attachments = [{ type: "image/png", chars: 34, name: "a.png" }, { url: "https://cdn.example/b.png" }];
  const terminal = { type: "tool_call", tool: "cart", arguments: { a: 1 }, callId: "c1" } as const;
  const rest = { state: "awaiting", holds: false, deadlineMs: AT_MS + HOUR_MS } as const;
  const run = sampleRun("r1", { terminal });
  await store.commit(
    sampleCommit({
      opId: "waits",
      fence,
      uid,
      ...rest,
      run,
      messages: [sampleMessage(1, { attachments, files: [file] })],
    }),
  );
}

/** More messages, runs and ids than come along with a thread. */
async function longThread(store: Store, uid: string): Promise<void> {
  for (let i = 0; i < LONG_RUNS; i++) {
    const fence = newFence(HOLDER);
    const runId = `r${i}`;
    const message = { ...sampleWaiting(runId), clientMessageId: `id ${i}` };
    const run = sampleRun(runId, { outcome: "done" });
    const said = { uid, run, state: "idle", holds: false, rev: i, orWait: { message, max: 8 } } as const;
    const readOp = i === 0 ? null : `r${i - 1}`;
    const first = i * MESSAGES_IN_A_RUN + 1;
    const messages = Array.from({ length: MESSAGES_IN_A_RUN }, (_, nth) =>
      sampleMessage(first + nth, { runId }),
    );
    await store.commit(sampleCommit({ opId: runId, fence, readOp, ...said, messages }));
  }
}

/** A long reply, most of whose text is in parts; the process died while it wrote the next one. */
async function keptInParts(store: Store, uid: string): Promise<void> {
  const fence = newFence(HOLDER, "parts");
  await store.commit(sampleCommit({ opId: "claims", fence, uid, messages: [sampleMessage(1)] }));
  for (let nth = 0; nth < 70; nth++) {
    await store.keepPart({ uid, fence, runId: "r1", nth, text: `part ${nth} Ü`.padEnd(500, ".") });
  }
  const kept = { parts: 69, chars: 69 * 500 };
  const run = sampleRun("r1", { lines: [{ type: "delta", text: "the end", kept: kept.chars }], kept });
  await store.commit(sampleCommit({ opId: "step", fence, uid, claims: false, rev: 1, run }));
}
