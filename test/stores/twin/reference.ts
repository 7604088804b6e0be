import type { KeptFile } from "../../../src/domain/threads/files.ts";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../src/clock.ts";
import type { Channel } from "../../../src/domain/channels/channel.ts";
import { isSameFeedback, mayBeRated, withFeedback } from "../../../src/domain/threads/feedback.ts";
import { wholeMessage, wholeRun } from "../../../src/domain/threads/kept-text.ts";
import type { AnswererChange } from "../../../src/domain/threads/answerer-change.ts";
import { NO_DESK } from "../../../src/domain/threads/desk.ts";
import type { Desk, Note } from "../../../src/domain/threads/desk.ts";
import { chosenOf, isHidden, withHidden } from "../../../src/domain/threads/branches.ts";
import type { Ranges } from "../../../src/domain/threads/branches.ts";
import type { HistorySummary } from "../../../src/domain/threads/history-summary.ts";
import type { Catalog, Message, RunRecord, UserMessage } from "../../../src/domain/threads/message.ts";
import type { Operator } from "../../../src/domain/people/operator.ts";
import type { User } from "../../../src/domain/people/user.ts";
import { claimOf } from "../../../src/domain/threads/message-claim.ts";
import type { MessageClaim } from "../../../src/domain/threads/message-claim.ts";
import type {
  CommitResult,
  Deletion,
  ErasedThread,
  InstanceMessage,
  ListedThread,
  PlacedEntry,
  RestingThread,
  RunSummary,
  SaidBefore,
  Store,
  ThreadCommit,
  ThreadEntry,
  ThreadState,
} from "../../../src/store.ts";
import { pageOf } from "../../../src/store.ts";
import { catalogIdOf } from "../../../src/stores/steps/threads/records.ts";

/**
 * The store's contract said a second time, as plainly as it can be: lists in memory, one step after the other, no
 * index, no cleverness. equivalence.ts compares the implementations with it.
 */
interface Person {
  slug: string;
  user: User;
  createdAtMs: number;
  spent: Record<string, number>;
  threads: ThreadEntry[];
  /** Wrapped, by their ids. */
  contentKeys: Record<string, string>;
  /** At MCP servers, by name. */
  grants: Record<string, string>;
}

interface Token {
  slug: string;
  tokenHash: string;
  userId: string;
  snapshot: string;
  expiresAtMs: number;
  endsAtMs: number;
  /** Threads that have another name for this token, both ways. */
  names: Map<string, string>;
}

interface Thread {
  slug: string;
  rev: number;
  fence: string | null;
  catalog: Catalog;
  catalogId: string | null;
  messages: Message[];
  runs: RunRecord[];
  /** Texts of long replies, by run and number. */
  parts: Map<string, string>;
  queue: UserMessage[];
  historySummary: HistorySummary | null;
  hidden: Ranges;
  answerers: Map<number, AnswererChange>;
  desk: Desk;
  notes: Note[];
  /** By clientMessageId. */
  claims: Map<string, MessageClaim>;
  /** The last change that was committed, and what it answered. */
  last: { commit: ThreadCommit; result: CommitResult } | null;
}

interface StatsOfDay {
  counts: Record<string, number>;
  visitors: Set<string>;
  /** The last count of each process. */
  last: Map<string, number>;
}

const holderOf = (fence: string) => fence.split(":")[0] ?? "";
const isHeld = (thread: Thread): thread is Thread & { fence: string } => thread.fence !== null;

const waitsAlone = (state: ThreadState | undefined) =>
  state !== undefined && !["idle", "running"].includes(state);

function summaryOf({ runId, saidAtMs, outcome, path, terminal }: RunRecord): RunSummary {
  return { runId, saidAtMs, outcome, path, terminal };
}

interface UploadedFile {
  file: KeptFile;
  bytes: Uint8Array;
}

export function createReference(clock: Clock): Store {
  const processId = "reference";
  const channels: Channel[] = [];
  const ips = new Set<string>();
  const operators: Operator[] = [];
  const audit: PlacedEntry[] = [];
  const people: Person[] = [];
  const tokens: Token[] = [];
  const threads = new Map<string, Thread>();
  /** By thread and run. */
  const keptImages = new Map<string, string[]>();
  /** By thread: those that wait for their message, and those of one. */
  const uploads = new Map<string, Map<string, UploadedFile>>();
  const files = new Map<string, Map<string, UploadedFile>>();
  const planned: Deletion[] = [];
  /** By uid: the time of the deletion. */
  const erased = new Set<string>();
  /** Threads that went with a user, by the user's id. */
  const wentWith = new Map<string, string[]>();
  /** By channel: up to which user retention has looked. */
  const signIns = new Map<string, { userId: string; text: string; expiresAtMs: number }>();
  const sweeping = new Map<string, string>();
  /** Keys that wrapped something, and what each is known by. */
  const wrappers = new Map<string, string>();
  let changes = 0;
  let deliver: (message: InstanceMessage) => void = () => {};

  const channelOf = (slug: string) => channels.find((channel) => channel.slug === slug) ?? null;
  const personOf = (slug: string, userId: string) =>
    people.find((person) => person.slug === slug && person.user.userId === userId);
  /** Anonymous users that were merged, and whom they became. */
  const became = new Map<string, string>();
  const spenderOf = (slug: string, userId: string) =>
    personOf(slug, became.get(`${slug} ${userId}`) ?? userId);
  /** What happened, by channel and day. */
  const days = new Map<string, StatsOfDay>();
  /** Tokens by day and name. */
  const counts = new Map<string, number>();
  const accountOf = (slug: string, externalId: string) =>
    people.find((person) => person.slug === slug && person.user.externalId === externalId);
  const tokenOf = (slug: string, tokenHash: string) =>
    tokens.find(
      (token) => token.slug === slug && token.tokenHash === tokenHash && clock.now() < token.expiresAtMs,
    );
  const stateOf = ({ enabled, accessMode }: Channel) => ({ enabled, accessMode });
  const uidOf = (person: Person, name: string) =>
    person.threads.find((thread) => thread.threadId === name)?.uid ?? null;
  const threadOf = (uid: string, slug: string): Thread => {
    const empty = {
      slug,
      rev: 0,
      fence: null,
      catalog: [],
      catalogId: null,
      messages: [],
      runs: [],
      parts: new Map(),
      queue: [],
      historySummary: null,
      hidden: [],
      answerers: new Map(),
      desk: NO_DESK,
      notes: [],
      claims: new Map(),
      last: null,
    };
    const thread = threads.get(uid) ?? empty;
    threads.set(uid, thread);
    return thread;
  };

  /** Both still as they were read, and the token still the visitor's. */
  function readingHolds(slug: string, tokenHash: string, visitor: User, others: User[] = []): boolean {
    if (tokenOf(slug, tokenHash)?.userId !== visitor.userId) return false;
    return [visitor, ...others].every((read) => isDeepStrictEqual(personOf(slug, read.userId)?.user, read));
  }

  function saidBefore(thread: Thread | undefined, claimed: MessageClaim | null): SaidBefore | null {
    const known = thread?.claims.get(claimed?.clientMessageId ?? "");
    if (!known) return null;
    return {
      type: "said-before",
      runId: known.runId,
      isSameText: known.textHash === claimed?.textHash,
    };
  }

  /** The message was stored by an earlier try of the same call. */
  function begun(thread: Thread | undefined, runId: string | undefined): SaidBefore | null {
    if (runId === undefined || !thread?.runs.some((run) => run.runId === runId)) return null;
    return { type: "said-before", runId, isSameText: true };
  }

  function claim(thread: Thread, message: UserMessage): void {
    const claimed = claimOf(message);
    if (claimed) thread.claims.set(claimed.clientMessageId, claimed);
  }

  function join(thread: Thread, message: UserMessage, max: number): "waiting" | "full" {
    if ([...thread.queue, ...thread.runs].some(({ runId }) => runId === message.runId)) return "waiting";
    if (thread.queue.length >= max) return "full";
    thread.queue.push(message);
    claim(thread, message);
    return "waiting";
  }

  function textOfParts(uid: string, runId: string, parts: number): string {
    const kept = threads.get(uid)?.parts;
    return Array.from({ length: parts }, (_, nth) => kept?.get(`${runId} ${nth}`) ?? "").join("");
  }

  function wholeMessages(uid: string, messages: readonly Message[]): Message[] {
    return messages.map((message) => {
      const { runId, kept } = message;
      return kept ? wholeMessage(message, textOfParts(uid, runId, kept.parts)) : message;
    });
  }

  function listRun(thread: Thread, run: RunRecord): void {
    const index = thread.runs.findIndex(({ runId }) => runId === run.runId);
    if (index === -1) thread.runs.push(run);
    else thread.runs[index] = run;
  }

  function answer({ catalog }: Thread, change: ThreadCommit, result: CommitResult): CommitResult {
    return result.type === "committed" && change.startsWaiting !== null ? { ...result, catalog } : result;
  }

  function commit(change: ThreadCommit): CommitResult {
    if (erased.has(change.uid)) return { type: "deleted" };
    const thread = threads.get(change.uid);
    if (thread?.last?.commit.opId === change.opId) return answer(thread, change, thread.last.result);
    const claimed = change.orWait ? claimOf(change.orWait.message) : (change.claimsId ?? null);
    const repeat = saidBefore(thread, claimed);
    if (repeat) return repeat;
    const fence = thread?.fence ?? null;
    if (thread && fence !== null && ![change.fence, change.takesFrom].includes(fence)) {
      if (!change.claims || change.orWait === null) return { type: "fenced" };
      return { type: join(thread, change.orWait.message, change.orWait.max), fence };
    }
    if (!change.claims && fence !== change.fence) return { type: "fenced" };
    const itself = begun(thread, change.orWait?.message.runId);
    if (itself) return itself;
    if ((thread?.rev ?? 0) !== change.rev) return { type: "changed" };
    if (change.claims && (thread?.last?.commit.opId ?? null) !== change.readOp) return { type: "changed" };
    const { readCatalogId = thread?.catalogId ?? null } = change;
    if (change.claims && (thread?.catalogId ?? null) !== readCatalogId) return { type: "changed" };
    if (change.startsWaiting !== null && thread?.queue[0]?.runId !== change.startsWaiting) {
      return { type: "changed" };
    }
    const kept = threadOf(change.uid, change.slug);
    if (change.orWait) claim(kept, change.orWait.message);
    if (change.startsWaiting !== null) kept.queue.shift();
    if (change.endedRun !== null) listRun(kept, change.endedRun);
    if (change.run) listRun(kept, change.run);
    if (!change.orWait && claimed) kept.claims.set(claimed.clientMessageId, claimed);
    kept.messages.push(...change.messages);
    if (change.hides) kept.hidden = withHidden(kept.hidden, change.hides);
    if (change.hides?.summarized) kept.historySummary = null;
    if (change.answerer) kept.answerers.set(change.answerer.epoch, change.answerer);
    kept.rev += 1;
    const next = kept.queue[0] ?? null;
    kept.fence = change.holds || next !== null ? change.fence : null;
    const result: CommitResult = { type: "committed", rev: kept.rev, next };
    kept.last = { commit: { ...change, run: change.run ?? kept.last?.commit.run ?? null }, result };
    return answer(kept, change, result);
  }

  function listedThread(entry: ThreadEntry): ListedThread {
    const thread = threads.get(entry.uid);
    const atMs = thread?.messages.at(-1)?.createdAtMs ?? 0;
    const state = thread?.last?.commit.state ?? "idle";
    return { ...entry, updatedAtMs: Math.max(entry.createdAtMs, atMs), state };
  }

  const laterFirst = (a: ListedThread, b: ListedThread) =>
    b.updatedAtMs - a.updatedAtMs || (a.uid < b.uid ? 1 : -1);

  function channelThreadsOf(slug: string) {
    return people
      .filter((person) => person.slug === slug)
      .flatMap(({ user: { userId }, threads: own }) =>
        own.map((entry) => ({ ...listedThread(entry), userId })),
      )
      .toSorted(laterFirst);
  }

  function erase(uid: string): ErasedThread {
    const fence = threads.get(uid)?.fence ?? null;
    erased.add(uid);
    threads.delete(uid);
    for (const key of keptImages.keys()) if (key.startsWith(`${uid} `)) keptImages.delete(key);
    uploads.delete(uid);
    files.delete(uid);
    return { fence, watchers: [] };
  }

  return {
    kind: "embedded",
    processId,

    // Nothing here is unreadable.
    salvage: async () => null,
    setAside: async () => {},
    mendToken: async () => {},

    channels: async () => channels,
    channel: async (slug) => channelOf(slug),
    async putChannel(channel) {
      const index = channels.findIndex(({ slug }) => slug === channel.slug);
      channels.splice(index === -1 ? channels.length : index, 1, channel);
      changes++;
    },
    async replaceChannel(channel, before) {
      if (!isDeepStrictEqual(channelOf(channel.slug), before)) return false;
      await this.putChannel(channel);
      return true;
    },
    operators: async () => operators.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    async addOperator(operator) {
      if (operators.some(({ name }) => name === operator.name)) return false;
      operators.push(operator);
      changes++;
      return true;
    },
    async replaceOperator(operator, before) {
      const index = operators.findIndex((stored) => isDeepStrictEqual(stored, before));
      if (index === -1 || before.name !== operator.name) return false;
      operators[index] = operator;
      changes++;
      return true;
    },
    async removeOperator(removed) {
      const index = operators.findIndex(({ name }) => name === removed);
      if (index !== -1) operators.splice(index, 1);
      changes++;
      return index !== -1;
    },
    async appendAudit(entry) {
      const nth = audit.filter(({ entry: { atMs } }) => atMs === entry.atMs).length;
      audit.unshift({ place: `${entry.atMs}-${nth}`, entry });
      audit.sort((a, b) => b.entry.atMs - a.entry.atMs);
    },
    async audit({ limit, after, sinceMs }) {
      const from = after === null ? 0 : audit.findIndex(({ place }) => place === after) + 1;
      const left = audit.slice(from).filter(({ entry }) => entry.atMs >= sinceMs);
      return pageOf(left, limit);
    },

    async addStats({ slug, day, by, nth, counts: counted, visitors }) {
      const none: StatsOfDay = { counts: {}, visitors: new Set(), last: new Map() };
      const known = days.get(`${slug} ${day}`) ?? none;
      days.set(`${slug} ${day}`, known);
      if ((known.last.get(by) ?? 0) >= nth) return;
      known.last.set(by, nth);
      for (const [name, count] of Object.entries(counted)) {
        known.counts[name] = (known.counts[name] ?? 0) + count;
      }
      for (const userId of visitors) known.visitors.add(userId);
    },
    stats: async (slug, { from, to }) =>
      [...days]
        .map(([key, { counts: sums, visitors }]) => ({ key, counts: { ...sums }, visitors: visitors.size }))
        .filter(({ key }) => key >= `${slug} ${from}` && key <= `${slug} ${to}`)
        .map(({ key, ...stats }) => ({ day: key.slice(-10), ...stats }))
        .sort((a, b) => (a.day < b.day ? -1 : 1)),

    blockedIps: async () => [...ips],
    async blockIp(address) {
      if (ips.has(address)) return false;
      ips.add(address);
      changes++;
      return true;
    },
    async unblockIp(address) {
      changes++;
      return ips.delete(address);
    },
    changeCount: async () => changes,
    isRestoring: async () => false,
    onChange: () => () => {},

    async mintVisitor({ slug, tokenHash, userId, snapshot, ttlMs, atMs, endsAtMs = Infinity }) {
      const expiresAtMs = Math.min(clock.now() + ttlMs, endsAtMs);
      tokens.push({ slug, tokenHash, userId, snapshot, expiresAtMs, endsAtMs, names: new Map() });
      const user = { userId, externalId: null, displayName: null, blocked: false, whitelisted: false };
      people.push({ slug, user, createdAtMs: atMs, spent: {}, threads: [], contentKeys: {}, grants: {} });
    },
    async rotateToken({ slug, tokenHash, userId, newTokenHash, ttlMs, endsAtMs = Infinity }) {
      const token = tokenOf(slug, tokenHash);
      if (token?.userId !== userId) return false;
      const expiresAtMs = Math.min(clock.now() + ttlMs, endsAtMs);
      Object.assign(token, { tokenHash: newTokenHash, expiresAtMs, endsAtMs });
      return true;
    },
    onTokenRotated: () => () => {},
    renamedThreads: async (slug, tokenHash) =>
      [...(tokenOf(slug, tokenHash)?.names ?? [])].map(([said, stored]) => ({ said, stored })),
    async revokeTokens(slug, userId) {
      for (const token of tokens) if (token.slug === slug && token.userId === userId) token.expiresAtMs = 0;
      const isKnown = personOf(slug, userId) !== undefined;
      if (isKnown) changes++;
      return isKnown;
    },
    async admitVisitor({ slug, tokenHash, ttlMs, threadId: threadName }) {
      const token = tokenOf(slug, tokenHash);
      const channel = channelOf(slug);
      const person = token && personOf(slug, token.userId);
      if (!token || !channel || !person) return null;
      token.expiresAtMs = Math.min(clock.now() + ttlMs, token.endsAtMs);
      return {
        user: person.user,
        snapshot: token.snapshot,
        ...(token.endsAtMs === Infinity ? {} : { endsAtMs: token.endsAtMs }),
        channel: stateOf(channel),
        threadUid: threadName === null ? null : uidOf(person, token.names.get(threadName) ?? threadName),
      };
    },
    async admitUser({ slug, externalId, displayName, attributes, newUserId, thread, creates, atMs }) {
      const channel = channelOf(slug);
      if (!channel) return null;
      let person = accountOf(slug, externalId);
      if (!person) {
        if (!creates) return null;
        const user = { userId: newUserId, externalId, displayName, blocked: false, whitelisted: false };
        person = { slug, user, createdAtMs: atMs, spent: {}, threads: [], contentKeys: {}, grants: {} };
        people.push(person);
      }
      if (creates && displayName !== null) person.user = { ...person.user, displayName };
      if (creates && attributes) {
        const { attributes: _, ...others } = person.user;
        person.user = Object.keys(attributes).length > 0 ? { ...others, attributes } : others;
      }
      const { user } = person;
      const mayTalk = channel.enabled && !user.blocked && (channel.accessMode === "open" || user.whitelisted);
      if (creates && thread?.newUid && mayTalk && uidOf(person, thread.name) === null) {
        person.threads.push({ uid: thread.newUid, threadId: thread.name, createdAtMs: atMs });
      }
      const threadUid = thread ? uidOf(person, thread.name) : null;
      return { user: person.user, channel: stateOf(channel), threadUid };
    },
    async addThread({ slug, userId, threadId: name, uid, atMs }) {
      const person = personOf(slug, userId);
      if (person && uidOf(person, name) === null)
        person.threads.push({ uid, threadId: name, createdAtMs: atMs });
      return person !== undefined;
    },
    async dropSilentVisitor(slug, userId) {
      const person = personOf(slug, userId);
      if (!person || person.threads.length > 0) return false;
      const { externalId, blocked, whitelisted } = person.user;
      if (externalId !== null || blocked || whitelisted) return false;
      people.splice(people.indexOf(person), 1);
      return true;
    },
    async spendTokens({ slug, userId, day, tokens: count }) {
      const person = spenderOf(slug, userId);
      if (person) person.spent[day] = (person.spent[day] ?? 0) + count;
    },

    spentTokens: async (slug, userId, day) => spenderOf(slug, userId)?.spent[day] ?? 0,

    async countTokens({ names, day, tokens: count }) {
      for (const name of names) counts.set(`${day} ${name}`, (counts.get(`${day} ${name}`) ?? 0) + count);
    },
    countedTokens: async (names, day) => names.map((name) => counts.get(`${day} ${name}`) ?? 0),

    async readIdentity(slug, tokenHash, externalId) {
      const token = tokenOf(slug, tokenHash);
      const person = token && personOf(slug, token.userId);
      return {
        visitor: token && person ? { user: person.user, snapshot: token.snapshot } : null,
        account: accountOf(slug, externalId)?.user ?? null,
      };
    },
    async promote({ slug, tokenHash, externalId, user, snapshot }) {
      const [person, token] = [personOf(slug, user.userId), tokenOf(slug, tokenHash)];
      if (!person || !token || !readingHolds(slug, tokenHash, user)) return "changed";
      if (accountOf(slug, externalId)) return "changed";
      person.user = { ...user, externalId };
      token.snapshot = snapshot;
      return "done";
    },
    async merge({ slug, tokenHash, from, into, result, snapshot }) {
      const [leaving, staying] = [personOf(slug, from.userId), personOf(slug, into.userId)];
      const token = tokenOf(slug, tokenHash);
      if (!leaving || !staying || !token || !readingHolds(slug, tokenHash, from, [into])) return "changed";
      const [theirs, own] = [leaving.threads.map((t) => t.threadId), staying.threads.map((t) => t.threadId)];
      for (const entry of leaving.threads) {
        let name = entry.threadId;
        for (
          let k = 2;
          own.includes(entry.threadId) && (k === 2 || [...own, ...theirs].includes(name));
          k++
        ) {
          name = `${entry.threadId}~${k}`;
        }
        staying.threads.push({ ...entry, threadId: name });
        if (name !== entry.threadId) token.names.set(entry.threadId, name).set(name, entry.threadId);
      }
      people.splice(people.indexOf(leaving), 1);
      became.set(`${slug} ${from.userId}`, into.userId);
      for (const [day, count] of Object.entries(leaving.spent)) {
        staying.spent[day] = (staying.spent[day] ?? 0) + count;
      }
      staying.user = result;
      staying.contentKeys = { ...leaving.contentKeys, ...staying.contentKeys };
      if (result.blocked && !from.blocked) changes++;
      Object.assign(token, { userId: into.userId, snapshot });
      return "done";
    },

    findUser: async (slug, id) => (personOf(slug, id) ?? accountOf(slug, id))?.user ?? null,
    users: async (slug) =>
      people
        .filter((person) => person.slug === slug)
        .toSorted((a, b) => a.createdAtMs - b.createdAtMs)
        .map(({ user }) => user),
    async usersPage(slug, { limit, after, order }) {
      const listed = people
        .filter((person) => person.slug === slug)
        .toSorted((a, b) => a.createdAtMs - b.createdAtMs)
        .map(({ user, createdAtMs }) => ({ user, createdAtMs, place: `${createdAtMs}-${user.userId}` }));
      if (order === "newest first") listed.reverse();
      const from = after === null ? 0 : listed.findIndex(({ place }) => place === after) + 1;
      return pageOf(listed.slice(from), limit);
    },
    async renameUser(slug, userId, displayName) {
      const person = personOf(slug, userId);
      if (!person) return null;
      person.user = { ...person.user, displayName };
      return person.user;
    },
    async flagUser(slug, userId, flags) {
      const person = personOf(slug, userId);
      if (!person) return null;
      person.user = { ...person.user, ...flags };
      changes++;
      return person.user;
    },
    threads: async (slug, userId) =>
      (personOf(slug, userId)?.threads ?? []).toSorted((a, b) => a.createdAtMs - b.createdAtMs),

    async listThreads({ slug, userId, limit, after }) {
      const listed = (personOf(slug, userId)?.threads ?? [])
        .map(listedThread)
        .toSorted(laterFirst)
        .filter(
          ({ updatedAtMs: atMs, uid }) =>
            after === null || atMs < after.atMs || (atMs === after.atMs && uid < after.uid),
        );
      const items = listed.slice(0, limit);
      const last = items.at(-1);
      const next = last && listed.length > limit ? { atMs: last.updatedAtMs, uid: last.uid } : null;
      return { items, next };
    },

    async channelThreads(slug, { limit, after, sinceMs, untilMs, state: wanted }) {
      const all = channelThreadsOf(slug).map((thread) => ({
        ...thread,
        place: `${thread.updatedAtMs}-${thread.uid}`,
      }));
      const from = after === null ? 0 : all.findIndex(({ place }) => place === after) + 1;
      const within = all
        .slice(from)
        .filter(
          ({ updatedAtMs: at, state }) => at >= sinceMs && at <= untilMs && state === (wanted ?? state),
        );
      return pageOf(within, limit);
    },
    channelThread: async (slug, uid) => channelThreadsOf(slug).find((thread) => thread.uid === uid) ?? null,
    changedThreads: async (slug, { sinceMs, limit }) =>
      channelThreadsOf(slug)
        .map(({ uid, updatedAtMs }) => ({ uid, atMs: updatedAtMs }))
        .filter(({ atMs }) => atMs >= sinceMs)
        .slice(0, limit),
    async restingThreads(slug, { untilMs, limit, after }) {
      const oldest = channelThreadsOf(slug)
        .map(({ uid, updatedAtMs, state }) => ({
          uid,
          updatedAtMs,
          state,
          isHeld: (threads.get(uid)?.fence ?? null) !== null,
          rev: erased.has(uid) ? null : (threads.get(uid)?.rev ?? 0),
        }))
        .filter(({ updatedAtMs }) => updatedAtMs <= untilMs)
        .toReversed();
      const isBehind = ({ uid, updatedAtMs: atMs }: RestingThread) =>
        after === null || atMs > after.atMs || (atMs === after.atMs && uid > after.uid);
      const left = oldest.filter(isBehind);
      const items = left.slice(0, limit);
      const last = items.at(-1);
      const next = last && left.length > limit ? { atMs: last.updatedAtMs, uid: last.uid } : null;
      return { items, next };
    },
    hasValidToken: async (slug, userId) =>
      tokens.some(
        (token) => token.slug === slug && token.userId === userId && clock.now() < token.expiresAtMs,
      ),
    grant: async (slug, userId, server) => personOf(slug, userId)?.grants[server] ?? null,
    grantedServers: async (slug, userId) => Object.keys(personOf(slug, userId)?.grants ?? {}).toSorted(),
    async keepGrant({ slug, userId, server, text }) {
      const person = personOf(slug, userId);
      if (!person) return false;
      const { [server]: _, ...others } = person.grants;
      person.grants = text === null ? others : { ...others, [server]: text };
      return true;
    },
    async keepSignIn({ slug, userId, stateHash, text, ttlMs }) {
      if (!personOf(slug, userId)) return false;
      signIns.set(`${slug} ${stateHash}`, { userId, text, expiresAtMs: clock.now() + ttlMs });
      return true;
    },
    async hasSignIn(slug, stateHash) {
      return (signIns.get(`${slug} ${stateHash}`)?.expiresAtMs ?? 0) > clock.now();
    },
    async takeSignIn(slug, stateHash) {
      const key = `${slug} ${stateHash}`;
      const signIn = signIns.get(key);
      if (!signIn || signIn.expiresAtMs <= clock.now() || !personOf(slug, signIn.userId)) return null;
      signIns.delete(key);
      return { userId: signIn.userId, text: signIn.text };
    },
    sweepPlace: async (slug) => sweeping.get(slug) ?? null,
    async setSweepPlace(slug, place) {
      if (place === null) sweeping.delete(slug);
      else sweeping.set(slug, place);
    },

    async planDeletion(deletion) {
      if (!planned.some((one) => isSame(one, deletion))) planned.push({ ...deletion });
    },
    plannedDeletions: async (limit) => planned.toSorted((a, b) => a.atMs - b.atMs).slice(0, limit),
    async endDeletion(deletion) {
      const index = planned.findIndex((one) => isSame(one, deletion));
      if (index !== -1) planned.splice(index, 1);
    },
    async unlistThread({ slug, id: uid }) {
      for (const person of people) {
        if (person.slug === slug) person.threads = person.threads.filter((entry) => entry.uid !== uid);
      }
    },
    async unlistUser({ slug, id: userId }) {
      const kept = tokens.filter((token) => token.slug !== slug || token.userId !== userId);
      tokens.splice(0, tokens.length, ...kept);
      const person = personOf(slug, userId);
      if (person) {
        const uids = person.threads.map(({ uid }) => uid).toSorted();
        wentWith.set(`${slug} ${userId}`, uids);
        people.splice(people.indexOf(person), 1);
      }
      return wentWith.get(`${slug} ${userId}`) ?? [];
    },
    eraseThread: async (uid) => erase(uid),
    async eraseUnchanged(uid, _, rev) {
      if (!erased.has(uid) && (threads.get(uid)?.rev ?? 0) !== rev) return null;
      return erase(uid);
    },

    async load(uid, budgetChars, runs = "last") {
      const thread = threads.get(uid);
      if (!thread) return null;
      const { slug, rev, fence, catalog, catalogId, queue, last } = thread;
      const inParts = runs === "last-in-parts";
      const messages = inParts ? thread.messages : wholeMessages(uid, thread.messages);
      const state = last?.commit.state ?? "idle";
      const run = runs === "active" && state === "idle" ? null : (last?.commit.run ?? null);
      return {
        uid,
        slug,
        rev,
        lastOp: last?.commit.opId ?? null,
        fence,
        state,
        snapshot: last?.commit.snapshot ?? null,
        catalog,
        catalogId,
        run: run?.kept && !inParts ? wholeRun(run, textOfParts(uid, run.runId, run.kept.parts)) : run,
        tail: chosenOf(fitting(messages, budgetChars), thread.hidden),
        messageCount: messages.length,
        ...(thread.hidden.length > 0 && { hidden: thread.hidden }),
        waitingCount: queue.length,
        ...(thread.historySummary && { historySummary: thread.historySummary }),
      };
    },
    historySummary: async (uid) => threads.get(uid)?.historySummary ?? null,
    async keepHistorySummary({ uid, slug, summary, after, hidden = [] }) {
      const thread = threads.get(uid);
      if (!isDeepStrictEqual(thread?.hidden ?? [], hidden)) return false;
      if (thread?.slug !== slug || (thread.historySummary?.upTo ?? 0) !== after) return false;
      thread.historySummary = summary;
      return true;
    },
    async answererChanges(uid, epoch) {
      const changes = [...(threads.get(uid)?.answerers.values() ?? [])];
      return changes.filter((one) => one.epoch <= epoch).sort((a, b) => a.epoch - b.epoch);
    },
    desk: async (uid) => threads.get(uid)?.desk ?? NO_DESK,
    async keepDesk({ uid, slug, desk, note }) {
      const thread = threads.get(uid);
      if ((thread?.desk ?? NO_DESK).rev !== desk.rev - 1) return { type: "changed" };
      if (thread?.slug !== slug) return { type: "not-found" };
      thread.desk = desk;
      if (note) thread.notes.push(note);
      return { type: "kept", unqueued: [] };
    },
    notes: async (uid) => threads.get(uid)?.notes ?? [],
    commit: async (change) => commit(change),
    async keepPart({ uid, fence, runId, nth, text }) {
      const thread = threads.get(uid);
      if (thread?.fence !== fence) return false;
      thread.parts.set(`${runId} ${nth}`, text);
      return true;
    },
    waitingRuns: async (uid) => (threads.get(uid)?.queue ?? []).map(({ runId }) => runId),
    keptText: async (uid, runId, parts, from = 0) =>
      textOfParts(uid, runId, parts).slice(textOfParts(uid, runId, Math.min(from, parts)).length),
    async keepImages({ uid, runId, images }) {
      if (erased.has(uid)) return false;
      keptImages.set(`${uid} ${runId}`, [...images]);
      return true;
    },
    keptImages: async (uid, runId) => keptImages.get(`${uid} ${runId}`) ?? [],
    async dropImages(uid, runId) {
      keptImages.delete(`${uid} ${runId}`);
    },
    async keepUpload({ uid, file, bytes }) {
      if (erased.has(uid)) return false;
      uploads.set(uid, (uploads.get(uid) ?? new Map<string, UploadedFile>()).set(file.id, { file, bytes }));
      return true;
    },
    async takeUploads(uid, ids) {
      const own = files.get(uid) ?? new Map<string, UploadedFile>();
      const known = ids.map((id) => own.get(id) ?? uploads.get(uid)?.get(id));
      const missing = ids.find((_, nth) => known[nth] === undefined);
      if (missing !== undefined) return { type: "missing", id: missing };
      const taken = known.filter((one) => one !== undefined);
      for (const one of taken) {
        own.set(one.file.id, one);
        uploads.get(uid)?.delete(one.file.id);
      }
      files.set(uid, own);
      return { type: "taken", files: taken.map(({ file }) => file) };
    },
    async dropOldUploads() {},
    keptFile: async (uid, id) => files.get(uid)?.get(id)?.file ?? null,
    keptFileBytes: async (uid, id) => files.get(uid)?.get(id)?.bytes ?? null,
    async wait(uid, message, max) {
      if (erased.has(uid)) return { type: "deleted" };
      const thread = threads.get(uid);
      const repeat = saidBefore(thread, claimOf(message));
      if (repeat) return repeat;
      if (!thread || !isHeld(thread)) return begun(thread, message.runId) ?? { type: "free" };
      const { fence } = thread;
      return join(thread, message, max) === "full" ? { type: "full" } : { type: "waiting", fence };
    },
    async setCatalog(uid, slug, catalog) {
      if (erased.has(uid)) return false;
      const thread = threadOf(uid, slug);
      thread.catalog = catalog;
      thread.catalogId = catalogIdOf(catalog);
      return true;
    },
    async rate({ uid, messageId, feedback }) {
      const messages = threads.get(uid)?.messages ?? [];
      const at = messages.findIndex(({ id }) => id === messageId);
      const message = messages[at];
      if (erased.has(uid) || !message || !mayBeRated(message)) return { type: "not-found" };
      const before = message.feedback ?? null;
      if (isSameFeedback(before, feedback)) return { type: "unchanged" };
      messages[at] = withFeedback(message, feedback);
      return { type: "rated", before, unqueued: [] };
    },
    async history(uid, { limit, before, budgetChars, all = false }) {
      const { messages: stored = [], hidden = [] } = threads.get(uid) ?? {};
      const end = before === null ? stored.length : stored.findIndex(({ id }) => id === before);
      if (end === -1) return [];
      const older = stored.slice(0, end);
      const marked = (page: Message[]) =>
        page.map((one) => (isHidden(hidden, one.id) ? { ...one, otherBranch: true as const } : one));
      if (budgetChars === undefined) {
        const shown = all ? older : chosenOf(older, hidden);
        return marked(wholeMessages(uid, shown.slice(-limit)));
      }
      for (let rest = older; ;) {
        const page = fitting(rest.slice(-limit), budgetChars);
        const shown = all ? page : chosenOf(page, hidden);
        if (shown.length > 0 || page.length === 0) return marked(shown);
        rest = rest.slice(0, -page.length);
      }
    },
    async look(uid, from, { all = false } = {}) {
      if (erased.has(uid)) {
        const nothing = { state: "idle" as const, runId: null, messageCount: 0, messages: [], to: from ?? 0 };
        return { ...nothing, isDeleted: true, lastOp: "deleted" };
      }
      const thread = threads.get(uid);
      const messages = wholeMessages(uid, thread?.messages ?? []);
      const { state, snapshot } = thread?.last?.commit ?? { state: "idle" as const, snapshot: "" };
      const seen = {
        state,
        ...(state === "waiting_for_person" || state === "with_person" ? { snapshot } : {}),
        runId: thread?.runs.at(-1)?.runId ?? null,
        lastOp: thread?.last?.commit.opId ?? null,
        messageCount: messages.length,
      };
      if (from === null) return { ...seen, messages: [], to: messages.length };
      const hidden = thread?.hidden ?? [];
      const shown = all
        ? messages
            .slice(from)
            .map((one) => (isHidden(hidden, one.id) ? { ...one, otherBranch: true as const } : one))
        : chosenOf(messages.slice(from), hidden);
      return { ...seen, messages: shown, to: Math.max(from, messages.length) };
    },
    lastOp: async (uid) =>
      (erased.has(uid) ? "deleted" : null) ?? threads.get(uid)?.last?.commit.opId ?? null,
    watch: async () => {},
    watchers: async () => [],
    claimed: async (uid, clientMessageId) => threads.get(uid)?.claims.get(clientMessageId) ?? null,
    runs: async (uid, limit) => (threads.get(uid)?.runs ?? []).slice(-limit).map(summaryOf),
    run: async (uid, runId) => {
      const run = threads.get(uid)?.runs.find((one) => one.runId === runId);
      return run ? summaryOf(run) : null;
    },

    contentKeys: {
      keys: async (slug, userId) => personOf(slug, userId)?.contentKeys ?? null,
      async add({ slug, userId, keyId, wrapped }) {
        const person = personOf(slug, userId);
        if (!person) return null;
        return (person.contentKeys[keyId] ??= wrapped);
      },
      async replace({ slug, userId, keyId, was, wrapped }) {
        const person = personOf(slug, userId);
        if (person?.contentKeys[keyId] !== was) return false;
        const { [keyId]: _, ...others } = person.contentKeys;
        person.contentKeys = wrapped === null ? others : { ...others, [keyId]: wrapped };
        return true;
      },
      wrappers: async () => Object.fromEntries(wrappers),
      async noteWrapper(id, check) {
        if (!wrappers.has(id)) wrappers.set(id, check);
      },
      async forgetWrapper(id) {
        wrappers.delete(id);
      },
    },

    beat: async () => [],
    retire: async () => {},
    enter: async () => {},
    holders: async () => [],
    onReconnect: () => () => {},
    heldBy: async (asked) =>
      [...threads].flatMap(([uid, { fence }]) => {
        if (fence === null) return [];
        const isMeant = asked === null ? holderOf(fence) !== processId : holderOf(fence) === asked;
        return isMeant ? [{ uid, fence }] : [];
      }),
    forget: async () => {},
    due: async (atMs, limit) =>
      [...threads]
        .flatMap(([uid, { last, fence }]) => {
          const deadlineMs =
            waitsAlone(last?.commit.state) && fence === null ? (last?.commit.deadlineMs ?? null) : null;
          return deadlineMs !== null && deadlineMs <= atMs ? [{ uid, deadlineMs }] : [];
        })
        .toSorted((a, b) => a.deadlineMs - b.deadlineMs)
        .slice(0, limit)
        .map(({ uid }) => uid),

    send(to, message) {
      if (to === processId) setImmediate(() => deliver(message));
    },
    onMessage(handler) {
      deliver = handler;
    },
    health: async () => ({ reachable: true, warnings: [] }),
    close: async () => {},
  };
}

const isSame = (one: Deletion, other: Deletion) =>
  one.kind === other.kind && one.slug === other.slug && one.id === other.id;

/** The newest whose contents fit the budget, at least one. */
function fitting(messages: Message[], budgetChars: number): Message[] {
  const sizeFrom = (from: number) =>
    messages.slice(from).reduce((sum, { content, kept }) => sum + content.length + (kept?.chars ?? 0), 0);
  let from = 0;
  while (from < messages.length - 1 && sizeFrom(from) > budgetChars) from++;
  return messages.slice(from);
}
