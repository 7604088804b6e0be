import { AUDIT_KEPT_MS } from "../../src/domain/audit.ts";
import type { Store } from "../../src/store.ts";
import { bucketOf } from "../../src/stores/buckets.ts";
import type { RedisCommands } from "../../src/stores/redis/commands.ts";
import {
  barKey,
  dueKey,
  endpointKeys,
  globalKeys,
  holdersKey,
  ownKey,
  threadKeys,
  tokenKey,
  traceKey,
  userKeys,
  usersKey,
} from "../../src/stores/redis/keys.ts";
import { FEW_THREADS } from "../../src/stores/thread-order.ts";
import type { StoreFunction, StoreReading } from "../../src/stores/redis/signatures.ts";
import { DAY, sampleChannel, sampleCommit, sampleMessage, sampleRun, sampleWaiting } from "./samples.ts";

/** One call of a function, with everything that it touches: what is there before, and the step that makes the call. */
export interface FunctionCase {
  /** The function's name, and which of its ways. */
  name: string;
  function: StoreFunction | StoreReading;
  before: (store: Store) => Promise<unknown>;
  step: (store: Store, redis: RedisCommands) => Promise<unknown>;
}

/** Every function at least once. */
export function functionCases(): FunctionCase[] {
  return [...userCases(), ...commitCases(), ...ratingCases(), ...outboxCases(), ...otherCases()];
}

const slug = "shop";
const tokenHash = "token";
const [anonymous, account] = ["anonymous", "account"];
const caller = {
  slug,
  externalId: "kim",
  displayName: "Kim",
  newUserId: account,
  thread: { name: "n1", newUid: "own" },
  creates: true,
  atMs: 2_000,
};
const silent = {
  slug,
  tokenHash,
  userId: anonymous,
  snapshot: "anonymous",
  ttlMs: 60_000,
  atMs: 1_000,
};
const thread = { slug, userId: anonymous, threadId: "n1", uid: "one", atMs: 1_000 };
const spend = (userId: string, day: string) => ({ slug, userId, day, tokens: 5 });

async function visitor(store: Store): Promise<void> {
  await store.putChannel(sampleChannel({ slug }));
  const anonymousVisitor = { slug, tokenHash, userId: anonymous, snapshot: "anonymous", atMs: 1_000 };
  await store.mintVisitor({ ...anonymousVisitor, ttlMs: 60_000 });
  await store.addThread(thread);
  await store.addThread({ ...thread, threadId: "n2", uid: "two" });
  await store.spendTokens(spend(anonymous, DAY));
}

async function both(store: Store): Promise<void> {
  await visitor(store);
  await store.admitUser(caller);
  await store.spendTokens(spend(account, DAY));
}

async function described(store: Store): Promise<void> {
  await both(store);
  await store.admitUser({ ...caller, attributes: { plan: "pro" } });
}

async function merge(store: Store): Promise<unknown> {
  const { visitor: from, account: into } = await store.readIdentity(slug, tokenHash, caller.externalId);
  if (!from || !into) throw new Error("Cannot merge: a side is missing");
  const result = { ...into, displayName: "Kim K.", blocked: true };
  return store.merge({ slug, tokenHash, from: from.user, into, result, snapshot: "bound" });
}

const contentKey = { slug, userId: anonymous, keyId: `${slug}~${anonymous}`, wrapped: "enc:v1:k1:AAAA" };

async function withKeys(store: Store): Promise<void> {
  await both(store);
  await store.contentKeys?.add(contentKey);
  await store.contentKeys?.add({ ...contentKey, keyId: "another" });
}

async function promote(store: Store): Promise<unknown> {
  const { visitor: read } = await store.readIdentity(slug, tokenHash, caller.externalId);
  if (!read) throw new Error("Cannot promote: there is no visitor");
  const { user } = read;
  return store.promote({ slug, tokenHash, externalId: caller.externalId, user, snapshot: "bound" });
}

function userCases(): FunctionCase[] {
  return [
    {
      name: "mint_visitor",
      function: "mint_visitor",
      before: (store) => store.putChannel(sampleChannel({ slug })),
      step: visitor,
    },
    {
      name: "admit_visitor",
      function: "admit_visitor",
      before: visitor,
      step: (store) => store.admitVisitor({ slug, tokenHash, ttlMs: 70_000, threadId: "n1" }),
    },
    {
      name: "admit_visitor, without a thread",
      function: "admit_visitor",
      before: visitor,
      step: (store) => store.admitVisitor({ slug, tokenHash, ttlMs: 70_000, threadId: null }),
    },
    {
      name: "admit_user, a new one",
      function: "admit_user",
      before: visitor,
      step: (store) => store.admitUser(caller),
    },
    {
      name: "admit_user, a known one",
      function: "admit_user",
      before: both,
      step: (store) =>
        store.admitUser({ ...caller, displayName: "K.", thread: { name: "n3", newUid: "three" } }),
    },
    {
      name: "admit_user, a new one with attributes",
      function: "admit_user",
      before: visitor,
      step: (store) => store.admitUser({ ...caller, attributes: { plan: "pro" } }),
    },
    {
      name: "admit_user, whose attributes are replaced, with a new thread",
      function: "admit_user",
      before: described,
      step: (store) =>
        store.admitUser({ ...caller, attributes: { seats: 3 }, thread: { name: "n3", newUid: "three" } }),
    },
    {
      name: "admit_user, whose attributes are removed",
      function: "admit_user",
      before: described,
      step: (store) => store.admitUser({ ...caller, attributes: {} }),
    },
    {
      name: "add_thread",
      function: "add_thread",
      before: visitor,
      step: (store) => store.addThread({ ...thread, threadId: "n3", uid: "three" }),
    },
    {
      name: "spend_tokens",
      function: "spend_tokens",
      before: visitor,
      step: (store) => store.spendTokens(spend(anonymous, DAY)),
    },
    {
      name: "spend_tokens, when a month is kept",
      function: "spend_tokens",
      async before(store) {
        await visitor(store);
        for (let day = 1; day <= 30; day++) {
          await store.spendTokens(spend(anonymous, `2026-10-${String(day).padStart(2, "0")}`));
        }
      },
      step: (store) => store.spendTokens(spend(anonymous, "2026-11-22")),
    },
    { name: "promote", function: "promote", before: visitor, step: promote },
    { name: "merge", function: "merge", before: both, step: merge },
    { name: "merge, with keys", function: "merge", before: withKeys, step: merge },
    {
      name: "read_content_keys",
      function: "read_content_keys",
      before: withKeys,
      step: (store) => store.contentKeys?.keys(slug, anonymous) ?? Promise.resolve(),
    },
    {
      name: "add_content_key",
      function: "add_content_key",
      before: both,
      step: (store) => store.contentKeys?.add(contentKey) ?? Promise.resolve(),
    },
    {
      name: "replace_content_key",
      function: "replace_content_key",
      before: withKeys,
      step: (store) =>
        store.contentKeys?.replace({ ...contentKey, was: contentKey.wrapped, wrapped: "enc:v1:k2:BBBB" }) ??
        Promise.resolve(),
    },
    {
      name: "replace_content_key, which is removed",
      function: "replace_content_key",
      before: withKeys,
      step: (store) =>
        store.contentKeys?.replace({ ...contentKey, was: contentKey.wrapped, wrapped: null }) ??
        Promise.resolve(),
    },
    {
      name: "drop_silent_visitor",
      function: "drop_silent_visitor",
      before: async (store) => {
        await store.putChannel(sampleChannel({ slug }));
        await store.mintVisitor(silent);
      },
      step: (store) => store.dropSilentVisitor(slug, anonymous),
    },
    {
      name: "flag_user",
      function: "flag_user",
      before: visitor,
      step: (store) => store.flagUser(slug, anonymous, { blocked: true, whitelisted: true }),
    },
  ];
}

const uid = "thread";
const fence = "alive:a";
const lost = "dead:a";
const asked = { ...sampleWaiting("w1"), clientMessageId: "m1" };
const run = sampleRun(asked.runId);
const goesOn = { claims: false, rev: 1 };
const rests = { ...goesOn, state: "awaiting" as const, holds: false, deadlineMs: 90_000 };

function commit(opId: string, changes: Partial<Parameters<typeof sampleCommit>[0]> = {}) {
  return sampleCommit({ uid, slug, opId, fence, ...changes });
}

const endpoint = "0123456789abcdef";
const event = { id: "msg_1", type: "message.created" as const, atMs: 1_000, messageId: "1", data: {} };
const tells = [{ event, endpoints: [endpoint] }];
const ref = { slug, uid, nth: "1", endpoint };
const sealed = { id: "msg_1", body: "{}" };
const delivery = {
  id: "msg_1",
  event: "run.ended",
  atMs: 5_000,
  attempt: 1,
  status: 500,
  fault: "no",
  elapsedMs: 3,
};

async function told(store: Store): Promise<void> {
  await store.commit(commit("claim", { messages: [sampleMessage(1)], tells }));
  await store.outbox?.queue([ref]);
}

function outboxCases(): FunctionCase[] {
  const { lease } = endpointKeys(slug, endpoint);
  return [
    {
      name: "seal_event",
      function: "seal_event",
      before: told,
      step: async (store) => store.outbox?.seal(ref, sealed),
    },
    {
      name: "read_event",
      function: "read_event",
      before: told,
      step: async (store) => store.outbox?.event(ref),
    },
    {
      name: "queue_events",
      function: "queue_events",
      before: told,
      step: async (store) => store.outbox?.queue([ref, { ...ref, nth: "2" }]),
    },
    {
      name: "settle_event, delivered",
      function: "settle_event",
      before: told,
      step: async (store) => store.outbox?.settled(ref, { ...delivery, status: 204, fault: null }),
    },
    {
      name: "settle_event, failed",
      function: "settle_event",
      before: told,
      step: async (store) => store.outbox?.failed(ref, { attempts: 1, dueMs: 2e12 }, delivery),
    },
    {
      name: "replay_events",
      function: "replay_events",
      async before(store) {
        await told(store);
        await store.outbox?.failed(ref, { attempts: 1, dueMs: 2e12 }, delivery);
      },
      step: async (store) => store.outbox?.replay(slug, endpoint),
    },
    {
      name: "lease_endpoint",
      function: "lease_endpoint",
      before: told,
      step: (_, redis) => redis.call("lease_endpoint", { lease }, { processId: "p1", leaseMs: "60000" }),
    },
    {
      name: "release_endpoint",
      function: "release_endpoint",
      before: async (store) => store.outbox?.lease(slug, endpoint, 60_000),
      step: async (store) => store.outbox?.release(slug, endpoint),
    },
  ];
}

function ratingCases(): FunctionCase[] {
  const reply = sampleMessage(1, { role: "assistant" });
  const rating = { uid, opId: "rates", messageId: "1", atMs: 5_000 };
  const up = { rating: "up" as const, atMs: 5_000 };
  return [
    {
      name: "rate_message",
      function: "rate_message",
      before: (store) => store.commit(commit("claim", { messages: [reply] })),
      step: (store) => store.rate({ ...rating, feedback: up, tells: [] }),
    },
    {
      name: "rate_message, which webhooks are told",
      function: "rate_message",
      before: (store) => store.commit(commit("claim", { messages: [reply], tells })),
      step: (store) => store.rate({ ...rating, feedback: up, tells }),
    },
    {
      name: "rate_message, the first that webhooks are told",
      function: "rate_message",
      before: (store) => store.commit(commit("claim", { messages: [reply] })),
      step: (store) => store.rate({ ...rating, feedback: up, tells }),
    },
  ];
}

const queued = (store: Store) => store.wait(uid, asked, 8);
const held = (store: Store) => store.commit(commit("claim", { messages: [sampleMessage(1)] }));

async function heldAndQueued(store: Store): Promise<void> {
  await held(store);
  await queued(store);
}

const deletion = { kind: "thread" as const, slug, id: "one", atMs: 9_000 };

function deletionCases(): FunctionCase[] {
  const full = async (store: Store) => {
    await heldAndQueued(store);
    await store.keepPart({ uid, fence, runId: "r1", nth: 0, text: "Once" });
    await store.keepImages({ uid, runId: "r1", images: ["data:image/png;base64,AAAA"] });
  };
  return [
    {
      name: "keep_images",
      function: "keep_images",
      before: held,
      step: (store) => store.keepImages({ uid, runId: "r1", images: ["data:image/png;base64,AAAA"] }),
    },
    {
      name: "set_catalog",
      function: "set_catalog",
      before: held,
      step: (store) => store.setCatalog(uid, slug, []),
    },
    {
      name: "erase_thread",
      function: "erase_thread",
      before: full,
      step: (store) => store.eraseThread(uid, 9_000),
    },
    {
      name: "erase_thread, which waits for its page",
      function: "erase_thread",
      before: async (store) => {
        await full(store);
        await store.commit(commit("rest", rests));
      },
      step: (store) => store.eraseThread(uid, 9_000),
    },
    {
      name: "erase_thread, which an earlier version wrote to since",
      function: "erase_thread",
      before: async (store) => {
        await full(store);
        await store.eraseThread(uid, 9_000);
      },
      step: async (store, redis) => {
        const { header, queue } = threadKeys(uid);
        await redis.write(header, "HSET", header, "slug", slug, "catalog", "[]");
        await redis.write(queue, "RPUSH", queue, "w2\n{}");
        return store.eraseThread(uid, 9_500);
      },
    },
    {
      name: "admit_user, whose name an earlier version gave to a deleted thread again",
      function: "admit_user",
      before: async (store) => {
        await both(store);
        await store.unlistThread({ ...deletion, id: "own" });
        await store.eraseThread("own", 9_000);
      },
      step: async (store, redis) => {
        const { names } = userKeys(slug, account);
        const { queue } = threadKeys("own");
        await redis.write(names, "HSET", names, "n1", "own 9500");
        await redis.write(queue, "RPUSH", queue, "w2\n{}");
        return store.admitUser({ ...caller, thread: { name: "n1", newUid: "next" } });
      },
    },
    {
      name: "unlist_thread",
      function: "unlist_thread",
      before: both,
      step: (store) => store.unlistThread(deletion),
    },
    {
      name: "unlist_thread, the last one",
      function: "unlist_thread",
      before: async (store) => {
        await store.putChannel(sampleChannel({ slug }));
        await store.admitUser(caller);
      },
      step: (store) => store.unlistThread({ ...deletion, id: "own" }),
    },
    {
      name: "unlist_user",
      function: "unlist_user",
      before: both,
      step: (store) => store.unlistUser({ ...deletion, kind: "user", id: anonymous }),
    },
    {
      name: "unlist_user, an account",
      function: "unlist_user",
      before: async (store) => {
        await both(store);
        await store.flagUser(slug, account, { blocked: true });
      },
      step: (store) => store.unlistUser({ ...deletion, kind: "user", id: account }),
    },
    {
      name: "erase_token",
      function: "erase_token",
      before: visitor,
      step: (store) => store.eraseTokens(slug, [anonymous]),
    },
    {
      name: "note_token",
      function: "note_token",
      before: visitor,
      step: (_, redis) => {
        const { user } = userKeys(slug, anonymous);
        return redis.call("note_token", { token: tokenKey(slug, tokenHash), user }, { userId: anonymous });
      },
    },
    {
      name: "is_token_valid",
      function: "is_token_valid",
      before: (store) => both(store).then(() => store.mintVisitor({ ...silent, tokenHash: "f".repeat(64) })),
      step: (store) => store.hasValidToken(slug, anonymous),
    },
    {
      name: "is_token_valid, of one that is another's",
      function: "is_token_valid",
      before: async (store) => {
        await both(store);
        await store.mintVisitor({ ...silent, tokenHash: "f".repeat(64) });
        await store.mintVisitor({ ...silent, userId: "other", tokenHash: "f".repeat(64) });
      },
      step: (store) => store.hasValidToken(slug, anonymous),
    },
  ];
}

function commitCases(): FunctionCase[] {
  const cases: Omit<FunctionCase, "function">[] = [
    {
      name: "the first claim",
      before: (store) => store.beat(),
      step: (store) =>
        store.commit(commit("claim", { messages: [sampleMessage(1)], orWait: { message: asked, max: 8 } })),
    },
    {
      name: "a save that holds on",
      before: held,
      step: (store) => store.commit(commit("save", { ...goesOn, messages: [sampleMessage(2)] })),
    },
    {
      name: "a release",
      before: held,
      step: (store) =>
        store.commit(
          commit("release", { ...goesOn, state: "idle", holds: false, messages: [sampleMessage(2)] }),
        ),
    },
    {
      name: "a release to wait for the page",
      before: held,
      step: (store) => store.commit(commit("rest", rests)),
    },
    {
      name: "a claim of a thread that waits for the page",
      async before(store) {
        await held(store);
        await store.commit(commit("rest", rests));
      },
      step: (store) =>
        store.commit(
          commit("answer", {
            rev: 2,
            readOp: "rest",
            run,
            endedRun: sampleRun("r1"),
            messages: [sampleMessage(2)],
          }),
        ),
    },
    {
      name: "a start of the last message that waits",
      before: heldAndQueued,
      step: (store) =>
        store.commit(
          commit("start", {
            ...goesOn,
            run,
            startsWaiting: asked.runId,
            messages: [sampleMessage(2), sampleMessage(3)],
          }),
        ),
    },
    {
      name: "a release while a message waits",
      before: heldAndQueued,
      step: (store) => store.commit(commit("release", { ...goesOn, state: "idle", holds: false })),
    },
    {
      name: "a claim of a dead process's thread",
      before: (store) => store.commit(commit("claim", { fence: lost, messages: [sampleMessage(1)] })),
      step: (store) => store.commit(commit("take", { takesFrom: lost, rev: 1, readOp: "claim" })),
    },
    {
      name: "a claim and release of a thread that this process holds by another fence",
      before: held,
      step: (store) =>
        store.commit(
          commit("take", { fence: "alive:b", takesFrom: fence, rev: 1, readOp: "claim", holds: false }),
        ),
    },
  ];
  const told: Omit<FunctionCase, "function">[] = [
    {
      name: "that tells webhooks",
      before: (store) => store.commit(commit("claim", { messages: [sampleMessage(1)], tells })),
      step: (store) =>
        store.commit(commit("save", { ...goesOn, tells, messages: [sampleMessage(2), sampleMessage(3)] })),
    },
    {
      name: "the first that tells webhooks",
      before: (store) => store.beat(),
      step: (store) => store.commit(commit("claim", { messages: [sampleMessage(1)], tells })),
    },
  ];
  cases.push(...told);
  return cases.map((each) => ({ ...each, function: "commit", name: `commit, ${each.name}` }));
}

const gone = { processId: "gone", stamp: "5" };

function barKeys(processId: string) {
  const bucket = bucketOf(uid);
  return { own: ownKey(bucket, processId), barKey: barKey(bucket, processId), holders: holdersKey(bucket) };
}

const operator = { name: "Zoë", role: "agent", keyHash: "0".repeat(64), channels: ["shop"] } as const;
const local = { ...operator, name: "local", channels: null };
const entry = { operator: "local", action: "ips.block", target: "203.0.113.1", slug: null };

function operatorCases(): FunctionCase[] {
  const added = { ...operator, channels: [...operator.channels] };
  return [
    {
      name: "change_operator, a new one",
      function: "change_operator",
      before: (store) => store.addOperator(local),
      step: (store) => store.addOperator(added),
    },
    {
      name: "change_operator, another record",
      function: "change_operator",
      before: (store) => store.addOperator(local),
      step: (store) => store.replaceOperator({ ...local, role: "admin" }, local),
    },
    {
      name: "change_operator, the last one leaves",
      function: "change_operator",
      before: (store) => store.addOperator(local),
      step: (store) => store.removeOperator("local"),
    },
    {
      name: "append_audit, and an old entry leaves",
      function: "append_audit",
      async before(store) {
        for (const atMs of [1_000, 5_000]) await store.appendAudit({ ...entry, atMs });
      },
      step: (store) => store.appendAudit({ ...entry, atMs: 1_001 + AUDIT_KEPT_MS }),
    },
    {
      name: "rename_user",
      function: "rename_user",
      before: visitor,
      step: (store) => store.renameUser(slug, anonymous, "Kim"),
    },
    {
      name: "rename_user, the name is taken away",
      function: "rename_user",
      before: both,
      step: (store) => store.renameUser(slug, account, null),
    },
  ];
}

const counted = { slug, day: DAY, by: "p1", counts: { messages: 2, "wait.7": 1 }, visitors: ["u1", "u2"] };

function otherCases(): FunctionCase[] {
  return [
    {
      name: "add_stats",
      function: "add_stats",
      before: (store) => store.addStats({ ...counted, nth: 1 }),
      step: (store) => store.addStats({ ...counted, nth: 2, visitors: ["u3"] }),
    },
    {
      name: "add_stats, again",
      function: "add_stats",
      before: (store) => store.addStats({ ...counted, nth: 1 }),
      step: (store) => store.addStats({ ...counted, nth: 1 }),
    },
    {
      name: "keep_part",
      function: "keep_part",
      before: held,
      step: (store) => store.keepPart({ uid, fence, runId: "r1", nth: 0, text: "Once" }),
    },
    { name: "wait_in_queue", function: "wait_in_queue", before: held, step: queued },
    {
      name: "load_thread",
      function: "load_thread",
      before: heldAndQueued,
      step: (store) => store.load(uid, 1_000),
    },
    {
      name: "rotate_token",
      function: "rotate_token",
      before: visitor,
      step: (store) =>
        store.rotateToken({ slug, tokenHash, userId: anonymous, newTokenHash: "fresh", ttlMs: 60_000 }),
    },
    {
      name: "revoke_tokens",
      function: "revoke_tokens",
      before: visitor,
      step: (store) => store.revokeTokens(slug, anonymous),
    },
    {
      name: "look_at_thread",
      function: "look_at_thread",
      before: heldAndQueued,
      step: (store) => store.look(uid, 0),
    },
    {
      name: "watch_thread",
      function: "watch_thread",
      before: (store) => store.watch(uid),
      step: (store) => store.watch(uid),
    },
    {
      name: "note_change",
      function: "note_change",
      before: async () => {},
      step: (_, redis) => redis.call("note_change", globalKeys, {}),
    },
    {
      name: "glance_thread and select_threads, of a few",
      function: "glance_thread",
      before: both,
      step: (store) => store.listThreads({ slug, userId: anonymous, limit: 9, after: null }),
    },
    {
      name: "select_threads, of many",
      function: "select_threads",
      async before(store) {
        await visitor(store);
        for (let nth = 0; nth <= FEW_THREADS; nth++) {
          await store.addThread({ ...thread, threadId: `many${nth}`, uid: `many${nth}` });
        }
      },
      step: (store) => store.listThreads({ slug, userId: anonymous, limit: 9, after: null }),
    },
    {
      name: "spent_tokens",
      function: "spent_tokens",
      before: both,
      step: (store) => store.spentTokens(slug, anonymous, DAY),
    },
    {
      name: "count_tokens",
      function: "count_tokens",
      before: visitor,
      step: (store) => store.countTokens({ names: ["all"], day: DAY, tokens: 5 }),
    },
    {
      name: "read_page",
      function: "read_page",
      before: heldAndQueued,
      step: (store) => store.history(uid, { limit: 9, before: null, budgetChars: 1_000 }),
    },
    { name: "list_runs", function: "list_runs", before: held, step: (store) => store.runs(uid, 9) },
    {
      name: "mend_token",
      function: "mend_token",
      before: visitor,
      step: (store) => store.mendToken({ slug, tokenHash, unreadable: "anonymous", snapshot: "mended" }),
    },
    {
      name: "mend, a hold",
      function: "mend",
      before: held,
      step: (_, redis) => {
        const keys = { witness: threadKeys(uid).header, target: ownKey(bucketOf(uid), "gone") };
        return redis.call("mend", keys, { test: "is", field: "fence", value: fence }, ["HSET", uid, fence]);
      },
    },
    {
      name: "mend, a deadline that is the last one",
      function: "mend",
      before: async (store) => {
        await held(store);
        await store.commit(commit("rest", rests));
      },
      step: (_, redis) => {
        const due = dueKey(bucketOf(uid));
        const keys = { witness: threadKeys(uid).header, target: due };
        return redis.call("mend", keys, { test: "rests", field: "", value: "" }, ["ZREM", uid]);
      },
    },
    ...deletionCases(),
    {
      name: "export_thread",
      function: "export_thread",
      async before(store) {
        await heldAndQueued(store);
        await store.keepPart({ uid, fence, runId: "r1", nth: 0, text: "Once" });
      },
      step: (_, redis) => {
        const keys = { ...threadKeys(uid), due: dueKey(bucketOf(uid)) };
        return redis.ask("export_thread", keys, { uid, most: "2", mostParts: "2" });
      },
    },
    {
      name: "export_user",
      function: "export_user",
      before: both,
      step: (_, redis) => {
        const keys = { ...userKeys(slug, account), users: usersKey(slug) };
        return redis.ask("export_user", keys, { userId: account, most: "2" });
      },
    },
    {
      name: "raise_format",
      function: "raise_format",
      before: () => Promise.resolve(),
      step: (_, redis) => redis.call("raise_format", { format: globalKeys.format }, { ours: "3" }),
    },
    ...operatorCases(),
    {
      name: "replace_channel",
      function: "replace_channel",
      before: (store) => store.putChannel(sampleChannel()),
      step: (store) => store.replaceChannel(sampleChannel({ enabled: false }), sampleChannel()),
    },
    {
      name: "change_set, a new member",
      function: "change_set",
      before: (store) => store.blockIp("2001:db8::1"),
      step: (store) => store.blockIp("203.0.113.1"),
    },
    {
      name: "change_set, the last member leaves",
      function: "change_set",
      before: (store) => store.blockIp("203.0.113.1"),
      step: (store) => store.unblockIp("203.0.113.1"),
    },
    { name: "beat", function: "beat", before: (store) => store.beat(), step: (store) => store.beat() },
    {
      name: "enter",
      function: "enter",
      before: (store) => store.beat(),
      step: (store) => store.enter([store.processId, "unknown", "another"]),
    },
    {
      name: "bar",
      function: "bar",
      before: held,
      step: (_, redis) => redis.call("bar", barKeys("gone"), { ...gone, keptMs: "60000" }),
    },
    {
      name: "bar, the last one on the list of holders",
      function: "bar",
      async before(store) {
        await held(store);
        await store.commit(commit("release", { ...goesOn, state: "idle", holds: false }));
      },
      step: (_, redis) =>
        redis.call("bar", barKeys("alive"), { ...gone, processId: "alive", keptMs: "60000" }),
    },
    {
      name: "leave_trace",
      function: "leave_trace",
      before: async () => {},
      step: (_, redis) => redis.call("leave_trace", { trace: traceKey("g") }, {}),
    },
    {
      name: "forget, the last process",
      function: "forget",
      before: (store) => store.retire(),
      step: (store, redis) =>
        redis.call("forget", { instances: globalKeys.instances }, { processId: store.processId, stamp: "0" }),
    },
  ];
}
