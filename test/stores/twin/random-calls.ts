import * as fc from "fast-check";
import type { KeptText } from "../../../src/domain/threads/kept-text.ts";
import { withoutText } from "../../../src/domain/threads/kept-text.ts";
import type { UserMessage } from "../../../src/domain/threads/message.ts";
import type { Operator } from "../../../src/domain/people/operator.ts";
import type { Store, ThreadCommit } from "../../../src/store.ts";
import {
  DAY,
  SLUG,
  sampleChannel,
  sampleCommit,
  sampleMessage,
  sampleRun,
  sampleWaiting,
} from "../samples.ts";

/** A call that is ready to be made, perhaps beside another one. */
export type Call = (store: Store) => Promise<unknown>;

interface Kind {
  weight: number;
  drawn: fc.Arbitrary<object>;
  /** Reads what the call is about. `number` counts up: it makes times and ids, the same ones on every side. */
  prepare: (store: Store, drawn: object, number: number) => Promise<Call> | Call;
}

/** One random call of the store: by its type, with what was drawn for it. */
export type Command = { type: string } & object;

function kind<Drawn extends object>(
  weight: number,
  drawn: { [Name in keyof Drawn]: fc.Arbitrary<Drawn[Name]> },
  prepare: (drawn: Drawn, number: number, store: Store) => Promise<Call> | Call,
): Kind {
  return {
    weight,
    drawn: fc.record(drawn),
    prepare: (store, asked, number) => prepare(asked as Drawn, number, store),
  };
}

/** Few names, so that random commands meet. */
const pick = <const T>(...values: T[]) => fc.constantFrom(...values);
export const UIDS = ["t1", "t2"];
export const RUNS = ["r1", "r2", "r3", "w1", "w2", "w3"];
export const TOKENS = ["h1", "h2", "h3", "h4"];
export const COUNTED = ["all", "channel shop"];
const uid = pick(...UIDS);
const fence = pick("p1:a", "p1:b", "p2:a");
const fileId = pick("f1", "f2");
const runId = pick("r1", "r2", "r3");
const waitingId = pick("w1", "w2", "w3");
const threadName = pick("n1", "n2", "n1~2", "Über 👋");
const externalId = pick("kim", "Łu {x}");
/** Which of the tokens that were made before; 0 is the latest: `withTokens` names it. */
const token = pick("0", "1", "2");
const newToken = fc.constant("");
const tokens = fc.nat(9);
const someOperator = { name: pick("Zoë", "ada"), role: pick("admin", "agent") };
const day = pick(DAY, DAY, "2026-11-22");
const address = pick("203.0.113.7", "2001:db8::/32");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const FAR_MS = 9_000_000_000_000;
/** Long enough that no real time matters, for implementations whose time cannot be set. */
const TTL_MS = 1_000_000;
const PARTS = 2;

const someCommit = {
  uid,
  fence,
  /** It is the last one again. */
  repeats: pick(false, false, false, false, true),
  claims: fc.boolean(),
  takesFrom: fc.option(fence),
  /** Mostly the revision as it is; otherwise off by this. */
  revOff: pick(0, 0, 0, 0, -1, 1),
  /** Mostly the last operation as it is; otherwise this one. */
  undoneOp: pick(null, null, null, null, null, "undone"),
  /** Mostly of any catalog; otherwise of the one that is there, or of another one. */
  ofCatalog: pick(undefined, undefined, undefined, "it", "another"),
  state: pick("idle", "running", "awaiting", "waiting_for_person", "with_person"),
  /** What becomes of the run, where no waiting message begins one: it goes on, ends, gives way to another, or is not saved. */
  does: pick("goes on", "goes on", "ends", "ends", "next", "left"),
  /** Its text begins with the parts that are kept of its run. */
  hasParts: fc.boolean(),
  /** What it claims without a message that may wait. */
  claimed: pick(undefined, undefined, "one", "other"),
  said: fc.array(
    fc.record({ content: fc.string({ unit: "grapheme", maxLength: 8 }), role: pick("user", "assistant") }),
    { maxLength: 2 },
  ),
  /** A waiting message that the commit starts: by luck the head of the queue. */
  starts: fc.option(waitingId, { freq: 2 }),
  holds: fc.boolean(),
  deadlineMs: fc.integer({ min: 1, max: 50 }),
  /** A branch begins in the place of this item, if it is there. */
  replaces: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 3 }),
  forgetsSummary: fc.boolean(),
  answerer: fc.option(fc.record({ epoch: fc.integer({ min: 1, max: 4 }), how: pick("asked", "taken") })),
  waits: fc.option(fc.record({ runId: waitingId, max: fc.integer({ min: 0, max: 3 }) })),
};

/** Every method that changes a store, but for what knows more than one process, and for webhooks. */
export const CALLS: Record<string, Kind> = {
  commit: kind(
    14,
    someCommit,
    async ({ repeats, answerer, replaces, forgetsSummary, ...drawn }, number, store) => {
      const { claimed, does, ofCatalog, waits, starts } = drawn;
      const record = await store.load(drawn.uid, 0);
      if (repeats && record?.snapshot) {
        const last = { ...(JSON.parse(record.snapshot) as ThreadCommit), snapshot: record.snapshot };
        return (its) => its.commit(last);
      }
      const active = record?.run?.outcome === null ? record.run : null;
      const goesOn = active && starts === null && does !== "next" ? active.runId : null;
      const its = starts ?? goesOn ?? `r${(record?.rev ?? 0) + 1}`;
      const kept = drawn.hasParts ? await keptOf(store, drawn.uid, its) : null;
      const saved = does === "left" && starts === null ? null : runOf(its, number, kept);
      const commit = sampleCommit({
        ...drawn,
        opId: `o${number}`,
        rev: (record?.rev ?? 0) + drawn.revOff,
        readOp: drawn.undoneOp ?? record?.lastOp ?? null,
        ...(drawn.claims && ofCatalog
          ? { readCatalogId: ofCatalog === "it" ? (record?.catalogId ?? null) : ofCatalog }
          : {}),
        atMs: number,
        ...(replaces !== null && replaces <= (record?.messageCount ?? 0)
          ? { hides: { from: replaces, to: record?.messageCount ?? 0, summarized: forgetsSummary } }
          : {}),
        ...(answerer ? { answerer: { ...answerer, atMs: number, by: "👋" } } : {}),
        run: saved && { ...saved, ...(goesOn && does === "ends" ? { outcome: "done" as const } : {}) },
        endedRun:
          saved && active && active.runId !== its ? { ...active, outcome: "superseded" as const } : null,
        messages: drawn.said.map((one, nth) =>
          sampleMessage((record?.messageCount ?? 0) + nth + 1, {
            ...one,
            // Mostly a reply is what its run said.
            ...(one.role === "assistant" && number % 3 > 0 ? { content: SAID } : {}),
            runId: its,
            createdAtMs: number,
            ...(kept && one.role === "assistant" ? { kept } : {}),
          }),
        ),
        startsWaiting: starts,
        orWait: waits && { message: waitingOf(waits.runId), max: waits.max },
        ...(claimed && !waits
          ? { claimsId: { clientMessageId: CLAIMED, runId: "item-1", textHash: claimed } }
          : {}),
      });
      // Its snapshot says what it was, for a repeat.
      const snapshot = JSON.stringify({ ...commit, snapshot: null });
      return (its) => its.commit({ ...commit, snapshot });
    },
  ),
  wait: kind(
    3,
    { uid, runId: waitingId, max: fc.nat(3) },
    (drawn) => (store) => store.wait(drawn.uid, waitingOf(drawn.runId), drawn.max),
  ),
  keepGrant: ofUser(1, { server: pick("a", "b"), text: pick("x", "y", null) }, (userId, { server, text }) => {
    return (store) => store.keepGrant({ slug: SLUG, userId, server, text });
  }),
  grant: ofUser(1, { server: pick("a", "b") }, (userId, { server }) => {
    return (store) => store.grant(SLUG, userId, server);
  }),
  setCatalog: kind(
    1,
    { uid, size: fc.nat(2) },
    (drawn) => (store) =>
      store.setCatalog(
        drawn.uid,
        SLUG,
        Array.from({ length: drawn.size }, (_, nth) => ({ name: `tool${nth}` })),
      ),
  ),
  keepPart: kind(
    4,
    { uid, fence, runId: pick("r1", "w1"), nth: fc.nat(PARTS - 1) },
    (drawn) => (store) => store.keepPart({ ...drawn, text: partOf(drawn.runId, drawn.nth) }),
  ),
  keepHistorySummary: kind(
    2,
    { uid, after: pick(0, 2, 4), upTo: pick(2, 4), ofThis: pick(true, true, true, false) },
    async ({ uid, after, upTo, ofThis }, _, known) => {
      const { hidden } = (await known.load(uid, 0)) ?? {};
      const branch = ofThis ? (hidden ? { hidden } : {}) : { hidden: [[1, 1]] as const };
      return (store) =>
        store.keepHistorySummary({ uid, slug: SLUG, summary: summaryTo(upTo), after, ...branch });
    },
  ),
  // Each change adds a note.
  keepDesk: kind(2, { uid, label: pick("refund", "📦"), rev: pick(1, 2, 3) }, ({ uid, label, rev }) => {
    const desk = { rev, labels: [label], snoozed: null, notes: rev };
    const note = { id: String(rev), by: "ann", text: `${label} noted`, atMs: 5 };
    return (store) => store.keepDesk({ uid, slug: SLUG, desk, note, atMs: 5 });
  }),
  answererChanges: kind(
    1,
    { uid, epoch: fc.nat(5) },
    (drawn) => (store) => store.answererChanges(drawn.uid, drawn.epoch),
  ),
  desk: kind(1, { uid }, (drawn) => (store) => store.desk(drawn.uid)),
  notes: kind(1, { uid }, (drawn) => (store) => store.notes(drawn.uid)),
  historySummary: kind(1, { uid }, (drawn) => (store) => store.historySummary(drawn.uid)),
  keepImages: kind(
    1,
    { uid, runId, images: fc.array(pick("a", "b"), { maxLength: 2 }) },
    (drawn) => (store) => store.keepImages({ ...drawn, slug: SLUG }),
  ),
  keepUpload: kind(1, { uid, id: fileId }, ({ uid, id }) => {
    const file = { id, name: `${id}.txt`, type: "text/plain" as const, bytes: 2, text: id };
    return (store) => store.keepUpload({ uid, slug: SLUG, file, bytes: Buffer.from(id) });
  }),
  takeUploads: kind(
    1,
    { uid, ids: fc.array(fileId, { minLength: 1, maxLength: 2 }) },
    (drawn) => (store) => store.takeUploads(drawn.uid, drawn.ids),
  ),
  dropImages: kind(1, { uid, runId }, (drawn) => (store) => store.dropImages(drawn.uid, drawn.runId)),
  rate: kind(
    3,
    {
      uid,
      messageId: pick("1", "2", "3", "02", "x", "0"),
      rating: pick(null, "up", "down"),
      comment: pick("Nein.\n👎", "Oh"),
    },
    ({ rating, comment, ...drawn }, number) =>
      (store) =>
        store.rate({
          ...drawn,
          opId: `rates ${number}`,
          feedback: rating && { rating, comment, atMs: number },
          atMs: number,
          tells: [],
        }),
  ),

  mintVisitor: kind(
    3,
    { newToken, endsAtMs: pick(undefined, FAR_MS) },
    (drawn, number) => (store) =>
      store.mintVisitor({
        slug: SLUG,
        tokenHash: drawn.newToken,
        userId: `u${number}`,
        snapshot: `token ${number}`,
        ttlMs: TTL_MS,
        atMs: number,
        ...(drawn.endsAtMs ? { endsAtMs: drawn.endsAtMs } : {}),
      }),
  ),
  admitVisitor: kind(
    3,
    { token, threadName },
    (drawn) => (store) =>
      store.admitVisitor({
        slug: SLUG,
        tokenHash: drawn.token,
        ttlMs: TTL_MS,
        threadId: drawn.threadName,
      }),
  ),
  rotateToken: kind(2, { token, newToken }, async (drawn, _, store) => {
    const tokens = { tokenHash: drawn.token, newTokenHash: drawn.newToken };
    const userId = await userBehind(store, drawn.token);
    return (its) => its.rotateToken({ slug: SLUG, userId, ttlMs: TTL_MS, ...tokens });
  }),
  admitUser: kind(
    4,
    {
      externalId,
      displayName: fc.option(pick("Kim", "K.")),
      attributes: pick(undefined, undefined, {}, { plan: "pro" }, { "seats \u2028 Ü": 3.5, trial: false }),
      threadName: fc.option(threadName),
      makesThread: fc.boolean(),
      creates: fc.boolean(),
    },
    async (drawn, number, store) => {
      const { externalId: id, displayName, attributes, creates } = drawn;
      const newUid = drawn.makesThread ? await freeUid(store, number) : null;
      const thread = drawn.threadName === null ? null : { name: drawn.threadName, newUid };
      const caller = { slug: SLUG, externalId: id, displayName, attributes, creates, thread, atMs: number };
      return (its) => its.admitUser({ ...caller, newUserId: `u${number}` });
    },
  ),
  addThread: kind(3, { token, threadName }, async (drawn, number, store) => {
    const userId = await userBehind(store, drawn.token);
    const added = { threadId: drawn.threadName, uid: await freeUid(store, number), atMs: number };
    return (its) => its.addThread({ slug: SLUG, userId, ...added });
  }),
  identify: kind(
    5,
    {
      token,
      externalId,
      /** Blocked between the reading and the step. */
      disturbed: pick(false, false, false, true),
    },
    async (drawn, number, store) => {
      const { visitor, account } = await store.readIdentity(SLUG, drawn.token, drawn.externalId);
      if (visitor === null || visitor.user.externalId !== null) return nothing;
      if (drawn.disturbed) {
        const userId = account?.userId ?? visitor.user.userId;
        await store.flagUser(SLUG, userId, { blocked: true, whitelisted: true });
      }
      const common = { slug: SLUG, tokenHash: drawn.token, snapshot: `bound ${number}` };
      if (account === null) {
        return (its) => its.promote({ ...common, externalId: drawn.externalId, user: visitor.user });
      }
      // Never what a disturbance alone makes of the account, which would count as a merge that was stopped.
      const result = {
        ...account,
        displayName: `merged ${number}`,
        blocked: visitor.user.blocked || account.blocked,
        whitelisted: visitor.user.whitelisted || account.whitelisted,
      };
      return (its) => its.merge({ ...common, from: visitor.user, into: account, result });
    },
  ),
  revokeTokens: ofUser(1, {}, (userId) => (store) => store.revokeTokens(SLUG, userId)),
  spendTokens: ofUser(
    2,
    { tokens, day },
    (userId, spent) => (store) => store.spendTokens({ slug: SLUG, userId, ...spent }),
  ),
  flagUser: ofUser(2, { blocked: maybe(fc.boolean()), whitelisted: maybe(fc.boolean()) }, (userId, flags) => {
    const { blocked, whitelisted } = flags;
    const asked = {
      ...(blocked === undefined ? {} : { blocked }),
      ...(whitelisted === undefined ? {} : { whitelisted }),
    };
    return (store) => store.flagUser(SLUG, userId, asked);
  }),
  renameUser: ofUser(
    1,
    { name: pick(null, "", "Zoë") },
    (userId, { name }) =>
      (store) =>
        store.renameUser(SLUG, userId, name),
  ),
  addKey: ofUser(
    2,
    { keyId: pick("k", "l"), wrapped: pick("one", "two") },
    (userId, key) => (store) => contentKeysOf(store).add({ slug: SLUG, userId, ...key }),
  ),
  replaceKey: ofUser(
    1,
    { keyId: pick("k", "l"), was: pick("one", "two"), wrapped: pick("one", "three", null) },
    (userId, key) => (store) => contentKeysOf(store).replace({ slug: SLUG, userId, ...key }),
  ),

  countTokens: kind(
    1,
    { names: fc.subarray(COUNTED), tokens, day },
    (drawn) => (store) => store.countTokens(drawn),
  ),
  putChannel: kind(
    2,
    {
      slug: pick(SLUG, "other"),
      enabled: pick(true, true, false),
      accessMode: pick("open", "open", "whitelist"),
    },
    (drawn) => (store) => store.putChannel(sampleChannel(drawn)),
  ),
  replaceChannel: kind(
    1,
    { slug: pick(SLUG, "other"), before: pick("it", "it", "none", "another") },
    async ({ slug, before }, number, store) => {
      const read = before === "it" ? await store.channel(slug) : null;
      const [was, becomes] = [0, number].map((nth) => sampleChannel({ slug, agent: { model: `m${nth}` } }));
      return (its) => its.replaceChannel(becomes!, before === "another" ? was! : read);
    },
  ),
  blockIp: kind(1, { address }, (drawn) => (store) => store.blockIp(drawn.address)),
  unblockIp: kind(1, { address }, (drawn) => (store) => store.unblockIp(drawn.address)),
  addOperator: kind(
    1,
    someOperator,
    (drawn, number) => (store) => store.addOperator(operatorOf(drawn, number)),
  ),
  replaceOperator: kind(
    1,
    { ...someOperator, isAnother: pick(false, false, true) },
    async ({ isAnother, ...drawn }, number, store) => {
      const read = (await store.operators()).find(({ name }) => name === drawn.name);
      const before = isAnother || !read ? operatorOf(drawn, 0) : read;
      return (its) => its.replaceOperator(operatorOf(drawn, number), before);
    },
  ),
  removeOperator: kind(
    1,
    { name: someOperator.name },
    (drawn) => (store) => store.removeOperator(drawn.name),
  ),
  appendAudit: kind(
    2,
    { atMs: fc.nat(3) },
    ({ atMs }, number) =>
      (store) =>
        store.appendAudit({
          atMs,
          operator: "Zoë",
          action: "users.block",
          target: `user ${number}`,
          slug: SLUG,
        }),
  ),
  addStats: kind(
    2,
    {
      day,
      by: pick("p1", "p2"),
      nth: fc.integer({ min: 1, max: 3 }),
      messages: fc.nat(3),
      visitors: fc.subarray(["u1", "u2"]),
    },
    ({ messages, ...drawn }) =>
      (store) =>
        store.addStats({ slug: SLUG, counts: { messages, "wait.3": 1 }, ...drawn }),
  ),
  setSweepPlace: kind(
    1,
    { place: pick(null, "1000-u1") },
    ({ place }) =>
      (store) =>
        store.setSweepPlace(SLUG, place),
  ),
  noteWrapper: kind(
    1,
    { id: pick("k1", "k2"), check: pick("", "one") },
    ({ id, check }) =>
      (store) =>
        contentKeysOf(store).noteWrapper(id, check),
  ),
  forgetWrapper: kind(
    1,
    { id: pick("k1", "k2") },
    ({ id }) =>
      (store) =>
        contentKeysOf(store).forgetWrapper(id),
  ),
};

/** Work of several calls, which others may come between. */
const WORK: Record<string, Kind> = {
  deleteThread: kind(1, { uid }, ({ uid: id }, number) => async (store) => {
    await store.unlistThread({ kind: "thread", slug: SLUG, id, atMs: number });
    // By whom it was held, a repeat may tell or not.
    await store.eraseThread(id, number);
  }),
  deleteUnchanged: kind(
    1,
    { uid, revOff: pick(0, 0, -1) },
    ({ uid: id, revOff }, number) =>
      async (store) => {
        const rev = ((await store.load(id, 0))?.rev ?? 0) + revOff;
        if ((await store.eraseUnchanged(id, number, rev)) === null) return false;
        await store.unlistThread({ kind: "thread", slug: SLUG, id, atMs: number });
        return true;
      },
  ),
  deleteUser: ofUser(1, {}, (id, _, number) => async (store) => {
    const deletion = { kind: "user" as const, slug: SLUG, id, atMs: number };
    await store.planDeletion(deletion);
    const planned = await store.plannedDeletions(9);
    const uids = await store.unlistUser(deletion);
    for (const each of uids) await store.eraseThread(each, number);
    await store.endDeletion(deletion);
    return { planned, uids };
  }),
};

/** What is no call of the store: equivalence.ts does it. */
const EVENTS: Record<string, Kind> = {
  elapse: kind(1, { ms: pick(400_000, 1_100_000) }, () => nothing),
  reopen: kind(1, {}, () => nothing),
};

const KINDS = { ...CALLS, ...WORK, ...EVENTS };

const drawnFrom = (kinds: Record<string, Kind>): fc.Arbitrary<Command> =>
  fc.oneof(
    ...Object.entries(kinds).map(([type, { weight, drawn }]) => ({
      weight,
      arbitrary: drawn.map((asked): Command => ({ type, ...asked })),
    })),
  );

/** So many commands, one after the other. */
export function someCommands(lengths: { minLength: number; maxLength: number }): fc.Arbitrary<Command[]> {
  return fc.array(drawnFrom(KINDS), { ...lengths, size: "max" }).map(withTokens);
}

/** Commands, and two calls that may be made at once: every other time of one kind. */
export function someRace(lengths: { maxLength: number }): fc.Arbitrary<Command[]> {
  const before = fc.array(drawnFrom(KINDS), { ...lengths, size: "max" });
  const call = drawnFrom(CALLS);
  const ofOneKind = fc.oneof(
    ...Object.entries(CALLS).map(([type, its]) => {
      const arbitrary = drawnFrom({ [type]: its });
      return { weight: its.weight, arbitrary: fc.tuple(arbitrary, arbitrary) };
    }),
  );
  return fc
    .tuple(before, fc.oneof(ofOneKind, fc.tuple(call, call)))
    .map(([commands, calls]) => withTokens([...commands, ...calls.map(notAhead)]));
}

/**
 * A commit that names the revision after the one it was decided on would fit the other one's, with ids that are taken
 * then: no service makes it, and its answer depends on when the other's ids are read.
 */
const notAhead = (call: Command): Command => ({
  ...call,
  ...("revOff" in call ? { revOff: Math.min(Number(call.revOff), 0) } : {}),
});

/** Tokens are never used again: each that is made is the next one. */
function withTokens(commands: Command[]): Command[] {
  let made = 0;
  return commands.map((command) => ({
    ...command,
    ...("token" in command ? { token: `h${made - Number(command.token)}` } : {}),
    ...("newToken" in command ? { newToken: `h${++made}` } : {}),
  }));
}

export async function prepare(store: Store, { type, ...drawn }: Command, number: number): Promise<Call> {
  const its = KINDS[type];
  if (!its) throw new Error(`Cannot prepare the command: there is no ${type}`);
  return its.prepare(store, drawn, number);
}

export async function run(store: Store, command: Command, number: number): Promise<unknown> {
  return (await prepare(store, command, number))(store);
}

const nothing: Call = async () => null;
/** A client's id that commits claim; that of waiting messages is another. */
export const CLAIMED = "\u0001ann";

/** A call about the user of a token. */
function ofUser<Drawn extends object>(
  weight: number,
  drawn: { [Name in keyof Drawn]: fc.Arbitrary<Drawn[Name]> },
  call: (userId: string, drawn: Drawn, number: number) => Call,
): Kind {
  return kind(weight, { token, asked: fc.record(drawn) }, async ({ token: its, asked }, number, store) =>
    call(await userBehind(store, its), asked as Drawn, number),
  );
}

async function userBehind(store: Store, token: string): Promise<string> {
  return (await store.readIdentity(SLUG, token, "nobody")).visitor?.user.userId ?? "nobody";
}

/**
 * For a new thread. It has one name, which it gets before it has a message; two that come at once have two uids; and that of a
 * deleted one is never used again.
 */
async function freeUid(store: Store, number: number): Promise<string> {
  const wanted = UIDS[number % UIDS.length] ?? "";
  const isNamed = (await store.channelThread(SLUG, wanted)) !== null;
  return isNamed || (await store.lastOp(wanted)) !== null ? `t${number}` : wanted;
}

/** Some messages share an id of their caller's, under different texts. */
function waitingOf(id: string): UserMessage {
  const message = sampleWaiting(id);
  return id.endsWith("3") ? message : { ...message, clientMessageId: "shared" };
}

const summaryTo = (upTo: number) => ({
  text: `Up to ${upTo} 👋`,
  upTo,
  atMs: 5,
  model: "p/m",
  usage: upTo === 4 ? null : { input: 1, output: 2 },
});
const partOf = (id: string, nth: number) => `part ${nth} of ${id} 👋 `;

/** All parts of the run, if they are there. */
async function keptOf(store: Store, thread: string, id: string): Promise<KeptText | null> {
  const text = Array.from({ length: PARTS }, (_, nth) => partOf(id, nth)).join("");
  return (await store.keptText(thread, id, PARTS)) === text ? { parts: PARTS, chars: text.length } : null;
}

const SAID = "Grüße 👋 \u2028";

function runOf(id: string, number: number, kept: KeptText | null) {
  if (!kept) return sampleRun(id, { activeMs: number, lines: [{ type: "delta", text: SAID }] });
  const lines = withoutText([{ type: "delta", text: "x".repeat(kept.chars) }], kept.chars);
  return sampleRun(id, { activeMs: number, kept, lines: [...lines, { type: "delta", text: "rest" }] });
}

/** Each is another one: who adds the same once more is told what the first call was. */
function operatorOf(drawn: { name: string; role: "admin" | "agent" }, number: number): Operator {
  return { ...drawn, keyHash: String(number).padStart(64, "0"), channels: null };
}

function contentKeysOf({ contentKeys }: Store) {
  if (!contentKeys) throw new Error("Cannot keep keys: the store has no place for them");
  return contentKeys;
}
