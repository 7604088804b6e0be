import { expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { UnreadableRecord } from "../../../src/store.ts";
import type { Delivery, Store, ToldRef } from "../../../src/store.ts";
import { storeOn } from "../../../src/stores/steps/store.ts";
import { channelSteps, threadSteps } from "../../topology/steps.ts";
import type { Place, Step } from "../../topology/steps.ts";
import { dumpEngine } from "../dump-engine.ts";
import { DAY, SLUG, sampleChannel } from "../samples.ts";
import { sampleDocument, samplePage, sampleSource } from "../contract/knowledge.ts";
import { stopping } from "./stoppable.ts";
import type { StoppableEngine } from "./stoppable.ts";

const PLACE: Place = { slug: SLUG, uid: "t1" };
const slug = SLUG;
const ENDPOINT = "aaaaaaaaaaaaaaaa";
const IDS = ["msg_1", "msg_2", "msg_3"];
const refs = IDS.map((nth): ToldRef => ({ slug, endpoint: ENDPOINT, uid: null, nth }));
const [first, second] = [refs[0]!, refs[1]!];
const tells = IDS.map((id) => ({ id, endpoint: ENDPOINT, body: "{}", atMs: 1 }));
const delivery: Delivery = {
  id: "msg_1",
  event: "user.deleted",
  atMs: 5,
  attempt: 1,
  status: 500,
  fault: "status 500",
  elapsedMs: 3,
};
const operator = { name: "ada", role: "admin" as const, keyHash: "a1".repeat(32), channels: null };
const counted = { slug, day: DAY, by: "p1", counts: { messages: 2 }, visitors: ["u1"] };
const ofThread = { kind: "thread" as const, slug, id: "of-u1", atMs: 9 };
const ofUser = { kind: "user" as const, slug, id: "u1", atMs: 9 };
const key = { slug, userId: "u1", keyId: "k1", wrapped: "one" };
const signIn = { slug, userId: "u1", stateHash: "s1", text: "verifier", ttlMs: 100_000 };
const part = { part: "message" as const, place: "1", stored: "oops" };

type Call = (store: Store) => Promise<unknown>;

const file = { id: "f1", name: "a.txt", type: "text/plain" as const, bytes: 1, text: "a" };
const upload: Call = (store) => store.keepUpload({ uid: "t1", slug, file, bytes: Buffer.from("a") });

/** What is there before a step of the topologies. */
const beforeOf =
  (name: string): Call =>
  async (store) =>
    [...channelSteps, ...threadSteps].find((step) => step.name === name)?.before(store, PLACE);
const visited = beforeOf("admitVisitor");
const held = beforeOf("load");
const rateable = beforeOf("rate");
const nothing: Call = async () => {};

function after(...calls: Call[]): Call {
  return async (store) => {
    for (const call of calls) await call(store);
  };
}

/** Events that are not queued yet, of users who are gone. */
const told: Call = async (store) => {
  await visited(store);
  await store.unlistUser(ofUser, tells);
};
const queued = after(told, (store) => store.outbox!.queue(refs));
const failed = after(queued, (store) => store.outbox!.failed(second, { attempts: 1, dueMs: 2e12 }, delivery));

/** The methods that write, but for those of the steps of the topologies: what is there before, and the call. */
const CALLS: [name: string, before: Call, take: Call][] = [
  ["putChannel", nothing, (store) => store.putChannel(sampleChannel())],
  ["replaceChannel", nothing, (store) => store.replaceChannel(sampleChannel(), null)],
  ["blockIp", nothing, (store) => store.blockIp("203.0.113.7")],
  ["unblockIp", (store) => store.blockIp("203.0.113.7"), (store) => store.unblockIp("203.0.113.7")],
  ["add", visited, (store) => store.contentKeys!.add(key)],
  [
    "replace",
    after(visited, (store) => store.contentKeys!.add(key)),
    (store) => store.contentKeys!.replace({ ...key, was: "one", wrapped: "two" }),
  ],
  [
    "takeSignIn",
    after(visited, (store) => store.keepSignIn(signIn)),
    (store) => store.takeSignIn(slug, signIn.stateHash),
  ],
  ["noteWrapper", nothing, (store) => store.contentKeys!.noteWrapper("k1", "check")],
  [
    "forgetWrapper",
    (store) => store.contentKeys!.noteWrapper("k1", "check"),
    (store) => store.contentKeys!.forgetWrapper("k1"),
  ],
  ["planDeletion", nothing, (store) => store.planDeletion(ofUser)],
  ["endDeletion", (store) => store.planDeletion(ofUser), (store) => store.endDeletion(ofUser)],
  ["unlistThread", visited, (store) => store.unlistThread(ofThread, tells)],
  ["unlistUser", beforeOf("identify as a known account"), (store) => store.unlistUser(ofUser, tells)],
  ["setSweepPlace", nothing, (store) => store.setSweepPlace(slug, "u1")],
  ["beat", nothing, (store) => store.beat()],
  ["retire", nothing, (store) => store.retire()],
  ["enter", nothing, (store) => store.enter(["gone"])],
  ["forget", (store) => store.enter(["gone"]), (store) => store.forget({ processId: "gone", stamp: "1" })],
  ["addOperator", nothing, (store) => store.addOperator(operator)],
  [
    "replaceOperator",
    (store) => store.addOperator(operator),
    (store) => store.replaceOperator({ ...operator, role: "agent" }, operator),
  ],
  ["removeOperator", (store) => store.addOperator(operator), (store) => store.removeOperator("ada")],
  [
    "addStats",
    (store) => store.addStats({ ...counted, nth: 1 }),
    (store) => store.addStats({ ...counted, nth: 2 }),
  ],
  ["queue", told, (store) => store.outbox!.queue(refs)],
  ["settled", failed, (store) => store.outbox!.settled(second, delivery)],
  ["failed", queued, (store) => store.outbox!.failed(first, { attempts: 2, dueMs: null }, delivery)],
  ["seal", told, (store) => store.outbox!.seal(first, { id: "msg_1", body: "{}" })],
  [
    "reseal",
    after(told, (store) => store.outbox!.seal(first, { id: "msg_1", body: "{}" })),
    (store) => store.outbox!.reseal(first, { id: "msg_1", body: "{}" }, '{"posts":1}'),
  ],
  ["lease", nothing, (store) => store.outbox!.lease(slug, ENDPOINT, 100_000)],
  [
    "release",
    (store) => store.outbox!.lease(slug, ENDPOINT, 100_000),
    (store) => store.outbox!.release(slug, ENDPOINT),
  ],
  ["switchEndpoint", queued, (store) => store.outbox!.switchEndpoint(slug, ENDPOINT, 5)],
  ["replay", failed, (store) => store.outbox!.replay(slug, ENDPOINT)],
  ["forgetEndpoint", failed, (store) => store.outbox!.forgetEndpoint(slug, ENDPOINT)],
  [
    "rotateToken",
    visited,
    (store) =>
      store.rotateToken({ slug, tokenHash: "h1", userId: "u1", newTokenHash: "h2", ttlMs: 1_000_000 }),
  ],
  ["dropSilentVisitor", beforeOf("addThread"), (store) => store.dropSilentVisitor(slug, "u1")],
  [
    "mendToken",
    visited,
    (store) => store.mendToken({ slug, tokenHash: "h1", unreadable: "anonymous", snapshot: "mended" }),
  ],
  ["renameUser", visited, (store) => store.renameUser(slug, "u1", "Kim")],
];

/** The same, of threads. */
const CALLS_OF_THREADS: typeof CALLS = [
  ["eraseThread", beforeOf("load of a thread with a queue"), (store) => store.eraseThread("t1", 9)],
  ["eraseUnchanged", rateable, (store) => store.eraseUnchanged("t1", 9, 1)],
  ["keepUpload", nothing, upload],
  ["takeUploads", after(upload), (store) => store.takeUploads("t1", ["f1"])],
  [
    "dropImages",
    (store) => store.keepImages({ uid: "t1", runId: "r1", images: ["data:image/png;base64,AAAA"] }),
    (store) => store.dropImages("t1", "r1"),
  ],
  [
    "rate",
    rateable,
    (store) =>
      store.rate({
        uid: "t1",
        opId: "rates",
        messageId: "1",
        feedback: { rating: "up", atMs: 9 },
        atMs: 9,
        tells: [
          {
            event: { id: "one", type: "feedback.given", atMs: 9, data: { rating: "up" } },
            endpoints: ["e1", "e2"],
          },
        ],
      }),
  ],
  [
    "setAside",
    held,
    (store) => store.setAside("t1", [{ ...part, error: new UnreadableRecord("message", "t1", "oops") }]),
  ],
  ["watch", held, (store) => store.watch("t1")],
];

/** Of a channel's documents: they are written by who has the lease. */
const leased: Call = async ({ knowledge }) => {
  await knowledge!.leaseKnowledge(slug, 100_000);
  for (const url of ["a", "b"]) await knowledge!.keepPage(slug, "site", samplePage(url), sampleDocument(url));
  await knowledge!.keepSource(slug, sampleSource("site"), { rev: "v1" });
};
const CALLS_OF_DOCUMENTS: [string, Call, Call][] = [
  ["leaseKnowledge", nothing, ({ knowledge }) => knowledge!.leaseKnowledge(slug, 100_000)],
  ["releaseKnowledge", leased, ({ knowledge }) => knowledge!.releaseKnowledge(slug)],
  ["keepSource", leased, ({ knowledge }) => knowledge!.keepSource(slug, sampleSource("site"), { rev: "v2" })],
  [
    "keepPage",
    leased,
    ({ knowledge }) => knowledge!.keepPage(slug, "site", samplePage("b", { rev: "r2" }), sampleDocument("c")),
  ],
  ["dropPages", leased, ({ knowledge }) => knowledge!.dropPages(slug, "site", ["a"])],
  ["dropSource", leased, ({ knowledge }) => knowledge!.dropSource(slug, "site", { rev: "v2" })],
  [
    "beginWanted",
    async ({ knowledge }) => knowledge!.wantSync(slug, ["site"]),
    async ({ knowledge }) => {
      const { wanted } = await knowledge!.sources(slug);
      await knowledge!.beginWanted(slug, "site", wanted.get("site") ?? "");
    },
  ],
];

/** Made again, they add once more: only the single step is completed (theorem.ts). */
const ADDING = ["appendAudit", "countTokens", "revokeTokens", "wantSync"];
/** Calls of "identify". */
const IDENTIFY = ["promote", "merge"];
/** Made again, they may answer that there was nothing left to change. */
const ANSWERED_ONCE = ["blockIp", "unblockIp", "removeOperator", "replay"];

/** Each call that is stopped is made again. */
function repeating<Part extends object>(part: Part, isStop: (error: unknown) => boolean): Part {
  const again =
    (call: (...words: unknown[]) => Promise<unknown>) =>
    async (...words: unknown[]) => {
      try {
        return await call(...words);
      } catch (error) {
        if (!isStop(error)) throw error;
        return call(...words);
      }
    };
  return new Proxy(part, {
    get(its, name) {
      const value: unknown = Reflect.get(its, name);
      if (typeof value === "function") return again(value as never);
      return typeof value === "object" && value !== null ? repeating(value, isStop) : value;
    },
  });
}

/** A user who is added again gets the next place of the same millisecond. */
function timesOfPlaces(key: string, value: unknown): unknown {
  if (!/^(us|bl):/.test(key)) return value;
  return Object.entries(value as object).map(([id, place]) => [id, Math.floor(Number(place) / 1_000)]);
}

/** What only reads, or is no call of the database. */
const READING = new Set(
  (
    "answererChanges audit blockedIps changed channel channelThread channelThreads channels changeCount changedThreads claimed close committing " +
    "countedTokens desk documents dropOldUploads due endpoint endpoints event findUser grant grantedServers hasSignIn hasValidToken health heldBy history historySummary holders isRestoring keptFile keptFileBytes keptImages " +
    "keptText keys lastOp level listThreads load longestWaiting look nextDueMs notes onChange onMessage onReconnect onTokenRotated " +
    "operators pages plannedDeletions readIdentity renamedThreads restingThreads run runs salvage send sources spentTokens stats sweepPlace " +
    "threads tidy timeMs told unqueued unsettled users usersPage waitingRuns watchers wrappers"
  ).split(" "),
);

/** The methods of a store that write. */
export function writingOf(store: Store): string[] {
  const parts = [store, store.outbox ?? {}, store.contentKeys ?? {}, store.knowledge ?? {}];
  return parts
    .flatMap((part) => Object.entries(part))
    .flatMap(([name, value]) => (typeof value === "function" && !READING.has(name) ? [name] : []));
}

/**
 * P10: whatever of its writes a call is stopped before, the same call made again leaves and answers what it would have without
 * the stop. `open`: an engine in which nothing is stored.
 */
export function itCompletesStoppedCalls(open: () => Promise<StoppableEngine>): void {
  /** Threads are put into their channel's order beside the call, and again later. */
  const isOfThread = (slot: string) => slot.startsWith("t:");
  const isAny = () => true;
  const steps = (all: readonly Step[]) =>
    all.map(({ name, before, take }): [string, Call, Call] => [
      name,
      (store) => before(store, PLACE),
      (store) => take(store, PLACE),
    ]);
  const cases = [
    ...[...steps(channelSteps), ...CALLS, ...CALLS_OF_DOCUMENTS].map((one) => [...one, isAny] as const),
    ...[...steps(threadSteps), ...CALLS_OF_THREADS].map((one) => [...one, isOfThread] as const),
  ];

  /** The call, stopped before its write `nth` and then made again: what is stored in the end, and what it answered. */
  async function play([name, before, take, isStopped]: (typeof cases)[number], nth: number) {
    const stoppable = await open();
    const { engine, stopBefore, wasStopped } = stopping(stoppable, isStopped);
    const store = await storeOn(engine, { clock: systemClock, log: { warn() {} } });
    await before(store);
    stopBefore(nth);
    const answer = await take(repeating(store, stoppable.isStop));
    await store.close();
    const said = ANSWERED_ONCE.includes(name) ? null : answer;
    const text = JSON.stringify({ answer: said, stored: await dumpEngine(stoppable.engine) }, timesOfPlaces);
    // Ids of additions are random, and numbers of events may be left out.
    const left = text
      .replaceAll(store.processId, "PROCESS")
      .replaceAll(/"(op|last|stamp)":"[^"]*"/g, '"$1":""');
    return { wasStopped: wasStopped(), left: JSON.parse(left) as unknown };
  }

  it.each(cases)("%s", async (...one) => {
    const whole = await play(one, Infinity);
    for (let nth = 0; nth < 40; nth++) {
      const played = await play(one, nth);
      expect(played.left, `stopped before write ${nth}`).toEqual(whole.left);
      if (!played.wasStopped) break;
    }
  });

  it("every method that writes is among them", async () => {
    const store = await storeOn((await open()).engine, { clock: systemClock, log: { warn() {} } });
    const writing = writingOf(store);
    const called = [...cases.map(([name]) => name.split(" ")[0]), ...ADDING, ...IDENTIFY];
    expect(writing.filter((name) => !called.includes(name))).toEqual([]);
  });
}
