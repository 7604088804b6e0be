import { holderOf } from "../../../src/domain/fence.ts";
import type { InstanceMessage, Store, ThreadCommit } from "../../../src/store.ts";
import type { Process } from "../instance/process.ts";
import type { World } from "../world.ts";
import type { Call } from "./calls.ts";
import { createLiveness } from "./liveness.ts";
import { commit } from "./node-data.ts";
import type { NodeData } from "./node-data.ts";

/** The store as one process sees it: the contract of src/store.ts over the simulated cluster. */
export interface Connection extends Store {
  /** A message of another instance is there. */
  receive: (message: InstanceMessage) => void;
  /** Called with each load of a thread as it is sent off; what it answers is called when the reading takes place. */
  watchLoads(watcher: (uid: string) => () => void): void;
}

export function createConnection({ cluster, judge, post }: World, process: Process, call: Call): Connection {
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
        done: (result, where) => judge({ type: "committed", uid, by, commit: change, result, where }),
        heard: () => judge({ type: "commit heard", uid, by }),
      });
    },
    wait(uid, asked, max) {
      const message = structuredClone(asked);
      return call(cluster.ofThread(uid), {
        action: "wait in a thread",
        isWrite: true,
        isSentOnce: true,
        step: ({ twin }) => twin.wait(uid, message, max),
        done: (result, where) => judge({ type: "waited", uid, message, result, where }),
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
        done: (isKept, where) => judge({ type: "part kept", uid: part.uid, part, isKept, where }),
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
      write(cluster.ofChannel(visitor.slug), "mint a visitor", (twin) => twin.mintVisitor(visitor)),
    rotateToken: (rotation) =>
      write(cluster.ofChannel(rotation.slug), "rotate a token", (twin) => twin.rotateToken(rotation)),
    revokeTokens: (slug, userId) =>
      write(cluster.ofChannel(slug), "revoke tokens", (twin) => twin.revokeTokens(slug, userId)),
    admitVisitor: (visitor) =>
      write(cluster.ofChannel(visitor.slug), "admit a visitor", (twin) => twin.admitVisitor(visitor)),
    admitUser: (user) => write(cluster.ofChannel(user.slug), "admit a user", (twin) => twin.admitUser(user)),
    addThread: (thread) =>
      write(cluster.ofChannel(thread.slug), "add a thread", (twin) => twin.addThread(thread)),
    dropSilentVisitor: (slug, userId) =>
      write(cluster.ofChannel(slug), "drop a silent visitor", (twin) => twin.dropSilentVisitor(slug, userId)),
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
      write(cluster.ofChannel(promotion.slug), "promote a visitor", (twin) => twin.promote(promotion)),
    merge: (merge) => write(cluster.ofChannel(merge.slug), "merge a visitor", (twin) => twin.merge(merge)),
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
    listThreads: (list) =>
      read(cluster.ofChannel(list.slug), "list threads by activity", (twin) => twin.listThreads(list)),

    channelThreads: (slug, page) =>
      read(cluster.ofChannel(slug), "list a channel's threads", (twin) => twin.channelThreads(slug, page)),
    channelThread: (slug, uid) =>
      read(cluster.ofChannel(slug), "look at a thread", (twin) => twin.channelThread(slug, uid)),
    changedThreads: (slug, since) =>
      read(cluster.ofChannel(slug), "look for changed threads", (twin) => twin.changedThreads(slug, since)),
    restingThreads: (slug, page) =>
      read(cluster.ofChannel(slug), "look for threads at rest", (twin) => twin.restingThreads(slug, page)),
    fillOrders: async () => false,
    addStats: (counted) =>
      write(cluster.ofChannel(counted.slug), "count what happened", (twin) => twin.addStats(counted)),
    stats: (slug, days) =>
      read(cluster.ofChannel(slug), "read what was counted", (twin) => twin.stats(slug, days)),

    planDeletion: (deletion) =>
      call(cluster.ofInstances(), {
        action: "plan a deletion",
        isWrite: true,
        step: ({ twin }) => twin.planDeletion(deletion),
        done: (_, where) => judge({ type: "deletion", step: "planned", deletion, where }),
      }),
    plannedDeletions: (limit) =>
      read(cluster.ofInstances(), "look for planned deletions", (twin) => twin.plannedDeletions(limit)),
    endDeletion: (deletion) =>
      call(cluster.ofInstances(), {
        action: "end a deletion",
        isWrite: true,
        step: ({ twin }) => twin.endDeletion(deletion),
        done: (_, where) => judge({ type: "deletion", step: "ended", deletion, where }),
      }),
    unlistThread: (deletion) =>
      write(cluster.ofChannel(deletion.slug), "unlist a thread", (twin) => twin.unlistThread(deletion)),
    unlistUser: (deletion) =>
      write(cluster.ofChannel(deletion.slug), "unlist a user", (twin) => twin.unlistUser(deletion)),
    eraseThread: (uid, atMs) =>
      call(cluster.ofThread(uid), {
        action: "erase a thread",
        isWrite: true,
        step: ({ twin }) => twin.eraseThread(uid, atMs),
        done: (_, where) => judge({ type: "erased", uid, where }),
      }),
    eraseUnchanged: (uid, atMs, rev) =>
      call(cluster.ofThread(uid), {
        action: "erase a thread",
        isWrite: true,
        step: ({ twin }) => twin.eraseUnchanged(uid, atMs, rev),
        done(erased, where) {
          if (erased) judge({ type: "erased", uid, where });
        },
      }),
    eraseTokens: (slug, userIds) =>
      write(cluster.ofChannel(slug), "erase tokens", (twin) => twin.eraseTokens(slug, userIds)),

    sweepPlace: (slug) =>
      read(cluster.ofInstances(), "look how far retention came", (twin) => twin.sweepPlace(slug)),
    setSweepPlace: (slug, place) =>
      write(cluster.ofInstances(), "note how far retention came", (twin) => twin.setSweepPlace(slug, place)),

    channels: () => read(cluster.ofInstances(), "list channels", (twin) => twin.channels()),
    channel: (slug) => read(cluster.ofInstances(), "read a channel", (twin) => twin.channel(slug)),
    putChannel: (channel) =>
      write(cluster.ofInstances(), "put a channel", (twin) => twin.putChannel(channel)),
    blockedIps: () => read(cluster.ofInstances(), "list blocked addresses", (twin) => twin.blockedIps()),
    blockIp: (address) => write(cluster.ofInstances(), "block an address", (twin) => twin.blockIp(address)),
    unblockIp: (address) =>
      write(cluster.ofInstances(), "unblock an address", (twin) => twin.unblockIp(address)),
    operators: () => read(cluster.ofInstances(), "list operators", (twin) => twin.operators()),
    addOperator: (operator) =>
      write(cluster.ofInstances(), "add an operator", (twin) => twin.addOperator(operator)),
    replaceOperator: (operator) =>
      write(cluster.ofInstances(), "change an operator", (twin) => twin.replaceOperator(operator)),
    removeOperator: (name) =>
      write(cluster.ofInstances(), "remove an operator", (twin) => twin.removeOperator(name)),
    appendAudit: (entry) =>
      write(cluster.ofInstances(), "write the audit", (twin) => twin.appendAudit(entry)),
    audit: (page) => read(cluster.ofInstances(), "read the audit", (twin) => twin.audit(page)),
    changeCount: () => read(cluster.ofInstances(), "count changes", (twin) => twin.changeCount()),
    onChange: () => () => {},

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
