// For src/stores/content-keys/refuse-locked.ts, src/stores/content-keys/rekey.ts, src/stores/embedded.ts,
// src/stores/redis.ts, src/stores/steps/codec.ts
import { describe, expect, test } from "vitest";
import type { Message, RunRecord, UserMessage } from "../../../src/domain/threads/message.ts";
import { LockedRecord, StoreUnavailable } from "../../../src/store.ts";
import type { Store, ThreadCommit } from "../../../src/store.ts";
import { refuseLockedStore } from "../../../src/stores/content-keys/refuse-locked.ts";
import { rekey } from "../../../src/stores/content-keys/rekey.ts";
import { contentKey, testWrapping } from "../../support/stores/content-keys.ts";
import { BUDGET_CHARS, SLUG, sampleChannel, sampleCommit, sampleMessage, sampleRun } from "../samples.ts";
import { admitCaller, merged, mint } from "../users.ts";
import { storesWithFiles } from "./stored-bytes.ts";

const CANARY = "canary-7f3a";
const k1 = contentKey("k1", 1);
const k2 = contentKey("k2", 2);

const speaker = { displayName: "Kim", page: `/${CANARY}`, customerContext: { plan: CANARY }, locale: CANARY };
const argumentsOf = { colour: CANARY };

const waiting: UserMessage = {
  runId: "w1",
  api: "widget",
  text: `waits ${CANARY}`,
  userId: "u1",
  speaker,
  saidAtMs: 2_000,
  clientMessageId: "m1",
  attachments: [{ name: CANARY, url: `https://cdn.example/${CANARY}` }],
};

const run: RunRecord = sampleRun("r1", {
  speaker,
  turns: [
    {
      type: "assistant",
      text: CANARY,
      calls: [{ callId: "c1", offeredName: "paint", arguments: JSON.stringify(argumentsOf) }],
    },
    { type: "result", callId: "c1", text: `result ${CANARY}`, isError: false },
  ],
  lines: [{ type: "delta", text: `reply ${CANARY}` }],
  terminal: { type: "tool_call", tool: "paint", arguments: argumentsOf, callId: "c1" },
});
const endedRun: RunRecord = sampleRun("r0", {
  outcome: "failed",
  terminal: { type: "error", message: `broke ${CANARY}`, code: "task_failed", hint: CANARY },
});

const messages: Message[] = [
  sampleMessage(1, { content: `text ${CANARY}`, attachments: [{ name: CANARY }] }),
  sampleMessage(2, {
    role: "assistant",
    content: `answer ${CANARY}`,
    steps: [{ id: "s1", phase: "done", text: CANARY }],
    calls: [{ tool: "paint", arguments: CANARY, result: CANARY }],
    turns: [{ by: "a/b", extra: { thought: CANARY }, calls: [{ id: "c1", extra: { thought: CANARY } }] }],
    handedBack: { name: "Ada", how: "returned", note: CANARY },
    error: { message: CANARY },
    outcome: "failed",
  }),
];

const told = {
  event: { id: "e1", type: "handoff.requested" as const, atMs: 1, data: { reason: CANARY } },
  endpoints: ["hook"],
};

const commit: ThreadCommit = sampleCommit({
  opId: "claim",
  fence: "p:a",
  snapshot: JSON.stringify({ value: "x", context: { version: 2, note: CANARY } }),
  run,
  endedRun,
  messages,
  tells: [told],
  claimsId: { clientMessageId: "m0", runId: "r1", textHash: "a-hash-of-it" },
});

/** A visitor u1 with a thread t1, in which all is said that can be. */
async function speak(store: Store): Promise<void> {
  await store.putChannel(sampleChannel());
  await mint(store, "h1", "u1");
  await store.addThread({ slug: SLUG, userId: "u1", threadId: "t1", uid: "t1", atMs: 1_000 });
  await store.keepImages({ uid: "t1", slug: SLUG, runId: "r1", images: [`data:image/png;base64,${CANARY}`] });
  const about = { name: `${CANARY}.txt`, type: "text/plain" as const, bytes: 9, text: CANARY };
  for (const id of ["f1", "f2"])
    await store.keepUpload({ uid: "t1", slug: SLUG, file: { id, ...about }, bytes: Buffer.from(CANARY) });
  expect(await store.takeUploads("t1", ["f1"])).toMatchObject({ type: "taken" });
  expect(await store.commit(commit)).toMatchObject({ type: "committed" });
  expect(await store.wait("t1", waiting, 8)).toMatchObject({ type: "waiting" });
  expect(await store.keepPart({ uid: "t1", fence: "p:a", runId: "r1", nth: 0, text: CANARY })).toBe(true);
}

/** Everything that can be read of t1. */
async function readAll(store: Store) {
  const ref = { slug: SLUG, endpoint: "hook", uid: "t1", nth: "1" };
  return {
    load: await store.load("t1", BUDGET_CHARS),
    history: await store.history("t1", { limit: 9, before: null }),
    look: await store.look("t1", 0),
    runs: await store.runs("t1", 9),
    run: await store.run("t1", "r0"),
    salvage: await store.salvage("t1", BUDGET_CHARS),
    text: await store.keptText("t1", "r1", 1),
    images: await store.keptImages("t1", "r1"),
    file: [await store.keptFile("t1", "f1"), await store.keptFileBytes("t1", "f1")],
    claimed: await store.claimed("t1", "m0"),
    event: await store.outbox?.event(ref),
  };
}

describe.each(storesWithFiles)("contents encrypted at rest, on $name", ({ prepare }) => {
  /** `stored`: without keys. */
  async function prepared() {
    const place = await prepare();
    const stored = await place.open();
    const open = (...args: Parameters<typeof testWrapping>) =>
      place.open({ wrapping: testWrapping(...args) });
    return { place, stored, open };
  }

  test("no text, argument or result is on the disk or in memory; all of it is read as it was written", async () => {
    const { place, open } = await prepared();
    const store = await open();
    await speak(store);
    const sealed = { id: "e1", body: JSON.stringify({ text: CANARY }) };
    const ref = { slug: SLUG, endpoint: "hook", uid: "t1", nth: "1" };
    const plain = await readAll(store);
    expect(await store.outbox?.seal(ref, sealed)).toEqual(sealed);
    expect(await store.outbox?.event(ref)).toEqual({ type: "sealed", ...sealed });
    const bytes = await place.bytes();
    expect(bytes.includes("answererSinceMs")).toBe(true);
    expect(bytes.includes(CANARY)).toBe(false);
    expect(bytes.includes(Buffer.from(CANARY).toString("base64").slice(0, 10))).toBe(false);
    expect(bytes.includes("a-hash-of-it")).toBe(false);

    expect(plain).toMatchObject({
      load: { snapshot: commit.snapshot, run, tail: messages },
      history: messages,
      look: { messages },
      runs: [{ terminal: endedRun.terminal }, { terminal: run.terminal }],
      run: { runId: "r0", terminal: endedRun.terminal },
      salvage: { record: { snapshot: commit.snapshot, run, tail: messages }, parts: [] },
      text: CANARY,
      images: [`data:image/png;base64,${CANARY}`],
      claimed: { runId: "r1", textHash: "a-hash-of-it" },
    });
    expect(plain.event?.type === "told" && JSON.parse(plain.event.text)).toEqual(told.event);
    expect(plain.load?.run).toEqual(run);
    expect(plain.load?.tail).toEqual(messages);
    const next = sampleCommit({ opId: "2", fence: "p:a", rev: 1, claims: false, run: null });
    expect(await store.commit(next)).toMatchObject({ type: "committed", next: waiting });
  });

  test("what a user has granted at an MCP server is encrypted, as is a sign-in; neither opens as another's", async () => {
    const { place, open, stored } = await prepared();
    const store = await open();
    await store.putChannel(sampleChannel());
    await mint(store, "h1", "u1");
    const grant = { slug: SLUG, userId: "u1", server: "crm", text: `token ${CANARY}` };
    await store.keepGrant(grant);
    await store.keepSignIn({ slug: SLUG, userId: "u1", stateHash: "s1", text: CANARY, ttlMs: 60_000 });
    expect((await place.bytes()).includes(CANARY)).toBe(false);
    expect(await store.grant(SLUG, "u1", "crm")).toBe(`token ${CANARY}`);
    expect(await stored.grantedServers(SLUG, "u1")).toEqual(["crm"]);
    await expect(stored.grant(SLUG, "u1", "crm")).rejects.toThrow(LockedRecord);
    expect(await store.takeSignIn(SLUG, "s1")).toEqual({ userId: "u1", text: CANARY });
  });

  test("a call that waits for approval is shown in lists, by keys too: its thread's snapshot is told", async () => {
    const { open } = await prepared();
    const store = await open();
    await speak(store);
    const snapshot = JSON.stringify({ value: { running: "awaitingApproval" }, context: commit.snapshot });
    const next = sampleCommit({ opId: "2", fence: "p:a", rev: 1, claims: false, run: null, snapshot });
    expect(await store.commit(next)).toMatchObject({ type: "committed" });
    expect(await store.channelThread(SLUG, "t1")).toMatchObject({ snapshot });
  });

  test("the summary of a long history is encrypted, and opens with its thread's key alone", async () => {
    const { place, open, stored } = await prepared();
    const store = await open();
    await speak(store);
    const summary = { text: `They spoke of ${CANARY}`, upTo: 2, atMs: 1, model: "p/m", usage: null };
    expect(await store.keepHistorySummary({ uid: "t1", slug: SLUG, summary, after: 0 })).toBe(true);
    expect((await place.bytes()).includes(CANARY)).toBe(false);
    expect(await store.historySummary("t1")).toEqual(summary);
    expect(await store.load("t1", 1_000)).toMatchObject({ historySummary: summary });
    await expect(stored.historySummary("t1")).rejects.toThrow(LockedRecord);
  });

  test("a comment on a reply is encrypted too; the same again tells nobody", async () => {
    const { place, open } = await prepared();
    const store = await open();
    await speak(store);
    const feedback = { rating: "down" as const, comment: `no ${CANARY}`, atMs: 1 };
    const tells = [{ ...told, event: { ...told.event, id: "e2", type: "feedback.given" as const } }];
    const rating = { uid: "t1", messageId: "2", opId: "o1", feedback, atMs: 1, tells };
    expect(await store.rate(rating)).toMatchObject({ type: "rated", before: null });
    expect((await place.bytes()).includes(CANARY)).toBe(false);
    expect((await store.history("t1", { limit: 1, before: null }))[0]).toEqual({ ...messages[1], feedback });
    expect(await store.rate({ ...rating, opId: "o2" })).toEqual({ type: "unchanged" });
    const other = { ...feedback, comment: "better" };
    expect(await store.rate({ ...rating, opId: "o3", feedback: other })).toMatchObject({
      type: "rated",
      before: feedback,
    });
  });

  test("without its key nothing is read, and nothing is taken for anything else; with it all is there again", async () => {
    const { open } = await prepared();
    const written = await open();
    await speak(written);
    const plain = await readAll(written);
    const wrongKeys = [
      { store: await open([k2]), fact: "wrapped by k1, which is not in CONTENT_KEYS" },
      { store: await open([contentKey("k1", 9)]), fact: "is not the key that wrapped it" },
      { store: await open([], false), fact: "wrapped by k1, which is not in CONTENT_KEYS" },
    ];
    for (const { store, fact } of wrongKeys) {
      const readings = [
        () => store.load("t1", BUDGET_CHARS),
        () => store.history("t1", { limit: 9, before: null }),
        () => store.look("t1", 0),
        () => store.runs("t1", 9),
        () => store.run("t1", "r0"),
        () => store.salvage("t1", BUDGET_CHARS),
        () => store.keptText("t1", "r1", 1),
        () => store.keptImages("t1", "r1"),
        () => store.keptFile("t1", "f1"),
        () => store.keptFileBytes("t1", "f1"),
        () => store.takeUploads("t1", ["f2"]),
        () => store.claimed("t1", "m0"),
        () => store.outbox?.event({ slug: SLUG, endpoint: "hook", uid: "t1", nth: "1" }),
      ];
      for (const read of readings) {
        const error = await Promise.resolve(read()).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(LockedRecord);
        expect(String(error)).toContain(fact);
      }
      const next = sampleCommit({ opId: "2", fence: "p:a", rev: 1, claims: false, run: null });
      if (store === wrongKeys[2]?.store) {
        expect(await store.commit(next)).toMatchObject({ type: "committed", next: null });
      } else await expect(store.commit(next)).rejects.toThrow(LockedRecord);
    }
    expect(await readAll(await open())).toMatchObject({ history: plain.history, run: plain.run });
  });

  test("what was written before there were keys is read, and so is what was encrypted when they stop to seal", async () => {
    const { place, stored, open } = await prepared();
    await speak(stored);
    const plain = await readAll(stored);
    expect(await readAll(await open())).toEqual(plain);
    const third = sampleMessage(3, { content: "third-7f3a" });
    const more = { fence: "p:a", claims: false, run: null } as const;
    await (await open()).commit(sampleCommit({ opId: "2", rev: 1, ...more, messages: [third] }));
    await (await open()).keepPart({ uid: "t1", fence: "p:a", runId: "r1", nth: 1, text: " second part" });
    const fourth = sampleMessage(4, { content: "fourth-7f3a" });
    const off = await open([k1], false);
    await off.commit(sampleCommit({ opId: "3", rev: 2, ...more, messages: [fourth] }));
    expect(await off.keptText("t1", "r1", 2)).toBe(`${CANARY} second part`);
    expect(await off.keptText("t1", "r1", 2, 1)).toBe(" second part");
    const page = { limit: 9, before: null };
    expect((await off.history("t1", page)).slice(2)).toEqual([third, fourth]);
    const bytes = await place.bytes();
    expect(["third-7f3a", "fourth-7f3a"].map((text) => bytes.includes(text))).toEqual([false, true]);
  });

  test("a merge takes the keys along: the account's conversations are read, and go on, on every instance", async () => {
    const { stored, open } = await prepared();
    const [here, there] = [await open(), await open()];
    await speak(here);
    await admitCaller(here);
    const into = await merged(here);
    expect((await there.load("t1", BUDGET_CHARS))?.tail).toEqual(messages);
    const third = sampleMessage(3, { content: "third" });
    const more = { fence: "p:a", claims: false } as const;
    // The run still names the visitor, who is gone.
    await there.commit(sampleCommit({ opId: "2", rev: 1, ...more, run, messages: [third] }));
    await (await open()).commit(sampleCommit({ opId: "3", rev: 2, ...more, run, messages: [] }));
    const opened = await open();
    expect((await opened.history("t1", { limit: 1, before: null }))[0]).toEqual(third);
    expect(Object.keys((await stored.contentKeys?.keys(SLUG, into.userId)) ?? {}).toSorted()).toEqual(
      [`${SLUG}~${into.userId}`, `${SLUG}~u1`].toSorted(),
    );
  });

  test("with its user the key is gone: what is left of a conversation cannot be read by anybody", async () => {
    const { place, stored, open } = await prepared();
    await speak(await open());
    await stored.unlistUser({ kind: "user", slug: SLUG, id: "u1", atMs: 9 });
    // As it is for an instance that never had the key: the texts are still there until their thread is erased.
    expect(await stored.contentKeys?.keys(SLUG, "u1")).toBeNull();
    expect((await place.bytes()).includes("enc:v1:")).toBe(true);
    for (const store of [await open(), await open([k2, k1])]) {
      await expect(store.keptText("t1", "r1", 1)).rejects.toThrow("the key of its user is gone");
    }
    await stored.eraseThread("t1", 9);
    const late = { ...commit, opId: "late", claims: false, rev: 1 };
    const store = await open();
    expect(await store.commit(late)).toEqual({ type: "deleted" });
    expect(await store.wait("t1", { ...waiting, runId: "w2" }, 8)).toEqual({ type: "deleted" });
  });

  test("nothing is written of a thread that nobody has", async () => {
    const { stored, open } = await prepared();
    await stored.putChannel(sampleChannel());
    await expect((await open()).commit(commit)).rejects.toThrow(StoreUnavailable);
    expect(await stored.load("t1", BUDGET_CHARS)).toBeNull();
  });

  test("a new key in front wraps what is new; rekey wraps the rest, and then the old one may go", async () => {
    const { stored, open } = await prepared();
    await speak(await open());
    const rotated = testWrapping([k2, k1]);
    const readable = await open([k2, k1]);
    expect((await readable.load("t1", BUDGET_CHARS))?.tail).toEqual(messages);
    await expect(refuseLockedStore(stored, testWrapping([k2]))).rejects.toThrow(
      "are encrypted by k1, which CONTENT_KEYS does not have",
    );
    await expect(refuseLockedStore(stored, testWrapping([contentKey("k1", 9)]))).rejects.toThrow(
      "the k1 of CONTENT_KEYS is not the key",
    );
    expect(await rekey(stored, { wrapping: rotated, forget: [] })).toMatchObject({
      users: 1,
      rekeyed: 1,
      failed: [],
      free: ["k1"],
    });
    expect(await rekey(stored, { wrapping: rotated, forget: [] })).toMatchObject({ rekeyed: 0, asBefore: 1 });
    await refuseLockedStore(stored, testWrapping([k2]));
    expect((await (await open([k2])).load("t1", BUDGET_CHARS))?.tail).toEqual(messages);
    await expect((await open([k1])).load("t1", BUDGET_CHARS)).rejects.toThrow(LockedRecord);
  });

  test("a key that is lost holds a start up until it is given up by name", async () => {
    const { stored, open } = await prepared();
    await speak(await open());
    const left = testWrapping([k2]);
    expect(await rekey(stored, { wrapping: left, forget: [] })).toMatchObject({
      rekeyed: 0,
      failed: [{ user: "shop u1" }],
      free: [],
    });
    await expect(refuseLockedStore(stored, left)).rejects.toThrow("k1");
    expect(await rekey(stored, { wrapping: left, forget: ["k1"] })).toMatchObject({
      forgotten: 1,
      free: ["k1"],
    });
    await refuseLockedStore(stored, left);
    const store = await open([k2]);
    await expect(store.load("t1", BUDGET_CHARS)).rejects.toThrow("the key of its user is gone");
    await store.addThread({ slug: SLUG, userId: "u1", threadId: "t2", uid: "t2", atMs: 1_000 });
    expect(await store.commit({ ...commit, uid: "t2", tells: [] })).toMatchObject({ type: "committed" });
    expect((await (await open([k2])).load("t2", BUDGET_CHARS))?.tail).toEqual(messages);
  });
});
