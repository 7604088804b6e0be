import { holderOf } from "../../../src/domain/fence.ts";
import type { InstanceMessage, Store, ThreadCommit } from "../../../src/store.ts";
import type { UserLeft } from "../happening.ts";
import type { Process } from "../instance/process.ts";
import type { World } from "../world.ts";
import type { Call } from "./calls.ts";
import { activeIn, pageByActivity, restIn } from "./activity.ts";
import { createLiveness } from "./liveness.ts";
import type { Meant } from "./meant.ts";
import { commit } from "./node-data.ts";
import type { NodeData } from "./node-data.ts";

/** The store as one process sees it: the contract of src/store.ts over the simulated cluster. */
export interface Connection extends Store {
  /** A message of another instance is there. */
  receive: (message: InstanceMessage) => void;
  /** Called with each load of a thread as it is sent off; what it answers is called when the reading takes place. */
  watchLoads(watcher: (uid: string) => () => void): void;
}

export function createConnection(
  { cluster, judge, post }: World,
  process: Process,
  call: Call,
  meant: Meant,
): Connection {
  let deliver: (message: InstanceMessage) => void = () => {};
  let watchLoad: (uid: string) => () => void = () => () => {};
  type Twin = NodeData["twin"];

  const read = <Result>(
    node: (typeof cluster.nodes)[number],
    action: string,
    ask: (twin: Twin) => Promise<Result>,
  ) => call(node, { action, isWrite: false, step: ({ twin }) => ask(twin) });
  const write = <Result>(
    node: (typeof cluster.nodes)[number],
    action: string,
    ask: (twin: Twin) => Promise<Result>,
  ) => call(node, { action, isWrite: true, step: ({ twin }) => ask(twin) });

  return {
    kind: "redis",
    processId: process.id,
    isRestoring: async () => false,
    ...createLiveness(cluster, process, call),

    load: (uid, budgetChars, runs) =>
      call(cluster.ofThread(uid), {
        action: "load a thread",
        isWrite: false,
        step: ({ twin }) => twin.load(uid, budgetChars, runs),
        done: watchLoad(uid),
      }),
    history: (uid, page) => read(cluster.ofThread(uid), "read a history", (twin) => twin.history(uid, page)),
    runs: (uid, limit) => read(cluster.ofThread(uid), "list runs", (twin) => twin.runs(uid, limit)),
    lastOp: (uid) =>
      read(cluster.ofThread(uid), "read the last change of a thread", (twin) => twin.lastOp(uid)),
    look: (uid, from) => read(cluster.ofThread(uid), "look at a thread", (twin) => twin.look(uid, from)),
    watch: (uid) => write(cluster.ofThread(uid), "watch a thread", (twin) => twin.watch(uid)),
    watchers: (uid) => read(cluster.ofThread(uid), "ask who watches a thread", (twin) => twin.watchers(uid)),
    claimed: (uid, clientMessageId) =>
      read(cluster.ofThread(uid), "look for a message", (twin) => twin.claimed(uid, clientMessageId)),
    run: (uid, runId) => read(cluster.ofThread(uid), "read a run", (twin) => twin.run(uid, runId)),
    waitingRuns: (uid) => read(cluster.ofThread(uid), "list what waits", (twin) => twin.waitingRuns(uid)),
    keptText: (uid, runId, parts, from) =>
      read(cluster.ofThread(uid), "read a reply", (twin) => twin.keptText(uid, runId, parts, from)),

    commit(asked) {
      const change: ThreadCommit = structuredClone(asked);
      const { uid } = change;
      const by = holderOf(change.fence);
      return call(cluster.ofThread(uid), {
        action: "commit a thread",
        isWrite: true,
        isSentOnce: change.orWait !== null,
        step: (data) => commit(data, change),
        done(result, where) {
          judge({ type: "committed", uid, by, commit: meant.commit(change), result, where });
        },
        heard: () => judge({ type: "commit heard", opId: change.opId }),
      });
    },
    wait(uid, asked, max) {
      const message = structuredClone(asked);
      return call(cluster.ofThread(uid), {
        action: "wait in a thread",
        isWrite: true,
        isSentOnce: true,
        step: ({ twin }) => twin.wait(uid, message, max),
        done(result, where) {
          judge({ type: "waited", uid, message: meant.message(message), result, where });
        },
      });
    },
    keptImages: (uid, runId) =>
      read(cluster.ofThread(uid), "read images", (twin) => twin.keptImages(uid, runId)),
    keepImages: (kept) => write(cluster.ofThread(kept.uid), "keep images", (twin) => twin.keepImages(kept)),
    rate: (rating) =>
      write(cluster.ofThread(rating.uid), "rate a reply", (twin) => twin.rate(structuredClone(rating))),
    dropImages: (uid, runId) =>
      write(cluster.ofThread(uid), "drop images", (twin) => twin.dropImages(uid, runId)),
    keepPart: (part) =>
      call(cluster.ofThread(part.uid), {
        action: "keep a part of a reply",
        isWrite: true,
        step: ({ twin }) => twin.keepPart(part),
        done(isKept, where) {
          judge({ type: "part kept", uid: part.uid, part: meant.part(part), isKept, where });
        },
      }),
    setCatalog(uid, slug, asked) {
      const catalog = structuredClone(asked);
      return call(cluster.ofThread(uid), {
        action: "set a catalog",
        isWrite: true,
        step: ({ twin }) => twin.setCatalog(uid, slug, catalog),
        done: (isKept, where) => judge({ type: "catalog set", uid, catalog, isKept, where }),
      });
    },

    salvage: (uid, budgetChars) =>
      read(cluster.ofThread(uid), "salvage a thread", (twin) => twin.salvage(uid, budgetChars)),
    setAside: (uid, parts) =>
      write(cluster.ofThread(uid), "set parts aside", (twin) => twin.setAside(uid, parts)),
    mendToken: (token) =>
      write(cluster.ofChannel(token.slug), "mend a token", (twin) => twin.mendToken(token)),

    mintVisitor: (visitor) =>
      call(cluster.ofChannel(visitor.slug), {
        action: "mint a visitor",
        isWrite: true,
        step: ({ twin }) => twin.mintVisitor(visitor),
        done: (_, where) => judge({ type: "user came", slug: visitor.slug, userId: visitor.userId, where }),
      }),
    rotateToken: (rotation) =>
      write(cluster.ofChannel(rotation.slug), "rotate a token", (twin) => twin.rotateToken(rotation)),
    revokeTokens: (slug, userId) =>
      write(cluster.ofChannel(slug), "revoke tokens", (twin) => twin.revokeTokens(slug, userId)),
    admitVisitor: (visitor) =>
      write(cluster.ofChannel(visitor.slug), "admit a visitor", (twin) => twin.admitVisitor(visitor)),
    admitUser: (user) => write(cluster.ofChannel(user.slug), "admit a user", (twin) => twin.admitUser(user)),
    addThread: (thread) =>
      call(cluster.ofChannel(thread.slug), {
        action: "add a thread",
        isWrite: true,
        step: ({ twin }) => twin.addThread(thread),
        done(isAdded, where) {
          if (isAdded) judge({ type: "thread listed", ...thread, where });
        },
      }),
    dropSilentVisitor: (slug, userId) =>
      call(cluster.ofChannel(slug), {
        action: "drop a silent visitor",
        isWrite: true,
        step: async ({ twin }) => ({
          was: await userIn(twin, slug, userId),
          isDropped: await twin.dropSilentVisitor(slug, userId),
        }),
        done({ was, isDropped }, where) {
          if (isDropped) judge({ type: "user left", left: { slug, userId, uids: [], was }, where });
        },
      }).then(({ isDropped }) => isDropped),
    hasValidToken: (slug, userId) =>
      read(cluster.ofChannel(slug), "look for tokens", (twin) => twin.hasValidToken(slug, userId)),
    spendTokens: (spent) =>
      write(cluster.ofChannel(spent.slug), "spend tokens", (twin) => twin.spendTokens(spent)),
    countTokens: (counted) =>
      write(cluster.ofThread(counted.names[0] ?? ""), "count tokens", (twin) => twin.countTokens(counted)),
    countedTokens: (names, day) =>
      read(cluster.ofThread(names[0] ?? ""), "read counted tokens", (twin) => twin.countedTokens(names, day)),
    spentTokens: (slug, userId, day) =>
      read(cluster.ofChannel(slug), "read spent tokens", (twin) => twin.spentTokens(slug, userId, day)),
    readIdentity: (slug, tokenHash, externalId) =>
      read(cluster.ofChannel(slug), "read an identity", (twin) =>
        twin.readIdentity(slug, tokenHash, externalId),
      ),
    promote: (promotion) =>
      call(cluster.ofChannel(promotion.slug), {
        action: "promote a visitor",
        isWrite: true,
        step: ({ twin }) => twin.promote(promotion),
        done(result, where) {
          const { slug, user } = promotion;
          const left: UserLeft = { slug, userId: user.userId, uids: [], was: null };
          if (result === "done") judge({ type: "user left", left, where });
        },
      }),
    merge: (merge) =>
      call(cluster.ofChannel(merge.slug), {
        action: "merge a visitor",
        isWrite: true,
        step: ({ twin }) => twin.merge(merge),
        done(result, where) {
          const left: UserLeft = { slug: merge.slug, userId: merge.from.userId, uids: [], was: null };
          if (result === "done") judge({ type: "user left", left, where });
        },
      }),
    findUser: (slug, id) => read(cluster.ofChannel(slug), "find a user", (twin) => twin.findUser(slug, id)),
    users: (slug) => read(cluster.ofChannel(slug), "list users", (twin) => twin.users(slug)),
    usersPage: (slug, page) =>
      read(cluster.ofChannel(slug), "list users", (twin) => twin.usersPage(slug, page)),
    renameUser: (slug, userId, displayName) =>
      write(cluster.ofChannel(slug), "rename a user", (twin) => twin.renameUser(slug, userId, displayName)),
    flagUser: (slug, userId, flags) =>
      write(cluster.ofChannel(slug), "flag a user", (twin) => twin.flagUser(slug, userId, flags)),
    threads: (slug, userId) =>
      read(cluster.ofChannel(slug), "list threads", (twin) => twin.threads(slug, userId)),
    renamedThreads: (slug, tokenHash) =>
      read(cluster.ofChannel(slug), "read a token's threads", (twin) => twin.renamedThreads(slug, tokenHash)),
    async listThreads({ slug, userId, limit, after }) {
      const { items } = await read(cluster.ofChannel(slug), "list threads by activity", (twin) =>
        twin.listThreads({ slug, userId, limit: Infinity, after: null }),
      );
      const active = await Promise.all(
        items.map((entry) =>
          read(cluster.ofThread(entry.uid), "look when a thread was active", (twin) => activeIn(twin, entry)),
        ),
      );
      return pageByActivity(active, limit, after);
    },

    channelThreads: (slug, page) =>
      read(cluster.ofChannel(slug), "list a channel's threads", (twin) => twin.channelThreads(slug, page)),
    channelThread: (slug, uid) =>
      read(cluster.ofChannel(slug), "look at a thread", (twin) => twin.channelThread(slug, uid)),
    changedThreads: (slug, since) =>
      read(cluster.ofChannel(slug), "look for changed threads", (twin) => twin.changedThreads(slug, since)),
    async restingThreads(slug, page) {
      const { untilMs } = page;
      judge({
        type: "rest looked for",
        look: { by: process.id, slug, untilMs, nowMs: process.clock.now() },
      });
      // On the node of the channel nothing is said: by when they were made.
      const { items, next } = await read(cluster.ofChannel(slug), "look for threads at rest", (twin) =>
        twin.restingThreads(slug, page),
      );
      const resting = await Promise.all(
        items.map((thread) =>
          read(cluster.ofThread(thread.uid), "look whether a thread rests", (twin) => restIn(twin, thread)),
        ),
      );
      return { items: resting.filter(({ updatedAtMs }) => updatedAtMs <= untilMs), next };
    },
    addStats: (counted) =>
      write(cluster.ofChannel(counted.slug), "count what happened", (twin) => twin.addStats(counted)),
    stats: (slug, days) =>
      read(cluster.ofChannel(slug), "read what was counted", (twin) => twin.stats(slug, days)),

    planDeletion: (deletion) =>
      call(cluster.ofInstances(), {
        action: "plan a deletion",
        isWrite: true,
        step: ({ twin }) => twin.planDeletion(deletion),
        done: (_, where) => judge({ type: "deletion", step: "planned", deletion, by: process.id, where }),
      }),
    plannedDeletions: (limit) =>
      read(cluster.ofInstances(), "look for planned deletions", (twin) => twin.plannedDeletions(limit)),
    endDeletion: (deletion) =>
      call(cluster.ofInstances(), {
        action: "end a deletion",
        isWrite: true,
        step: ({ twin }) => twin.endDeletion(deletion),
        done: (_, where) => judge({ type: "deletion", step: "ended", deletion, by: process.id, where }),
      }),
    unlistThread: (deletion) =>
      call(cluster.ofChannel(deletion.slug), {
        action: "unlist a thread",
        isWrite: true,
        step: ({ twin }) => twin.unlistThread(deletion),
        done: (_, where) => judge({ type: "thread unlisted", uid: deletion.id, where }),
      }),
    unlistUser(deletion) {
      const { slug, id: userId } = deletion;
      return call(cluster.ofChannel(slug), {
        action: "unlist a user",
        isWrite: true,
        step: async ({ twin }) => ({
          was: await userIn(twin, slug, userId),
          uids: await twin.unlistUser(deletion),
        }),
        done: ({ was, uids }, where) =>
          judge({ type: "user left", left: { slug, userId, uids, was }, where }),
      }).then(({ uids }) => uids);
    },
    eraseThread: (uid, atMs) =>
      call(cluster.ofThread(uid), {
        action: "erase a thread",
        isWrite: true,
        step: ({ twin }) => twin.eraseThread(uid, atMs),
        done: (_, where) => judge({ type: "erased", uid, by: process.id, where }),
      }),
    eraseUnchanged: (uid, atMs, rev) =>
      call(cluster.ofThread(uid), {
        action: "erase a thread",
        isWrite: true,
        step: ({ twin }) => twin.eraseUnchanged(uid, atMs, rev),
        done(erased, where) {
          if (erased) judge({ type: "erased", uid, by: process.id, where });
        },
      }),

    sweepPlace: (slug) =>
      read(cluster.ofInstances(), "look how far retention came", (twin) => twin.sweepPlace(slug)),
    setSweepPlace: (slug, place) =>
      write(cluster.ofInstances(), "note how far retention came", (twin) => twin.setSweepPlace(slug, place)),

    contentKeys: {
      keys: (slug, userId) =>
        read(
          cluster.ofChannel(slug),
          "read a user's keys",
          async (twin) => (await twin.contentKeys?.keys(slug, userId)) ?? null,
        ),
      add: (key) =>
        write(
          cluster.ofChannel(key.slug),
          "keep a user's key",
          async (twin) => (await twin.contentKeys?.add(key)) ?? null,
        ),
      replace: (change) =>
        write(
          cluster.ofChannel(change.slug),
          "replace a user's key",
          async (twin) => (await twin.contentKeys?.replace(change)) ?? false,
        ),
      wrappers: () =>
        read(
          cluster.ofInstances(),
          "read which keys wrapped something",
          async (twin) => (await twin.contentKeys?.wrappers()) ?? {},
        ),
      noteWrapper: (id, check) =>
        write(cluster.ofInstances(), "note a key that wraps", async (twin) =>
          twin.contentKeys?.noteWrapper(id, check),
        ),
      forgetWrapper: (id) =>
        write(cluster.ofInstances(), "forget a key that wraps", async (twin) =>
          twin.contentKeys?.forgetWrapper(id),
        ),
    },

    channels: () => read(cluster.ofInstances(), "list channels", (twin) => twin.channels()),
    channel: (slug) => read(cluster.ofInstances(), "read a channel", (twin) => twin.channel(slug)),
    putChannel: (channel) =>
      write(cluster.ofInstances(), "put a channel", (twin) => twin.putChannel(channel)),
    replaceChannel: (channel, before) =>
      write(cluster.ofInstances(), "replace a channel", (twin) => twin.replaceChannel(channel, before)),
    blockedIps: () => read(cluster.ofInstances(), "list blocked addresses", (twin) => twin.blockedIps()),
    blockIp: (address) => write(cluster.ofInstances(), "block an address", (twin) => twin.blockIp(address)),
    unblockIp: (address) =>
      write(cluster.ofInstances(), "unblock an address", (twin) => twin.unblockIp(address)),
    operators: () => read(cluster.ofInstances(), "list operators", (twin) => twin.operators()),
    addOperator: (operator) =>
      write(cluster.ofInstances(), "add an operator", (twin) => twin.addOperator(operator)),
    replaceOperator: (operator, before) =>
      write(cluster.ofInstances(), "change an operator", (twin) => twin.replaceOperator(operator, before)),
    removeOperator: (name) =>
      write(cluster.ofInstances(), "remove an operator", (twin) => twin.removeOperator(name)),
    appendAudit: (entry) =>
      write(cluster.ofInstances(), "write the audit", (twin) => twin.appendAudit(entry)),
    audit: (page) => read(cluster.ofInstances(), "read the audit", (twin) => twin.audit(page)),
    changeCount: () => read(cluster.ofInstances(), "count changes", (twin) => twin.changeCount()),
    onChange: () => () => {},
    onTokenRotated: () => () => {},

    send: (to, message) => post(process, to, message),
    onMessage(handler) {
      deliver = handler;
    },
    receive: (message) => deliver(message),
    watchLoads: (watcher) => void (watchLoad = watcher),

    health: async () => ({ reachable: true, warnings: [] }),
    close: async () => {},
  };
}

/** Null: there is no such user. */
async function userIn(twin: NodeData["twin"], slug: string, userId: string): Promise<UserLeft["was"]> {
  const user = await twin.findUser(slug, userId);
  if (user?.userId !== userId) return null;
  return { externalId: user.externalId, hadToken: await twin.hasValidToken(slug, userId) };
}
