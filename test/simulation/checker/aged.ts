import type { Exchange } from "../clients/exchange.ts";
import type { Happening, RestLook } from "../happening.ts";
import type { Where } from "../store/node.ts";
import { contentOf } from "./thread-truth.ts";
import type { Watch, Watcher } from "./watcher.ts";

export interface Aged {
  /** Nothing is left that is past its date. */
  isOver(): boolean;
}

/** What a process knows of a user as retention begins to look at it. */
interface Look {
  /** By the clock of who looks, which is not the clock that dates the deletion. */
  nowMs: number;
  /** When somebody last spoke, by thread. */
  spokenInMs: ReadonlyMap<string, number>;
}

/**
 * deleted-when-due: what nobody asked to delete goes only when it was due. A thread: its last message, by its own time, is older
 * than the look that found it allowed, which was no younger than the channel says. A user: anonymous, without a valid token, and
 * no thread of it is younger. A message that is answered with 200 went with its thread, or has it kept.
 * due-is-deleted: at rest everything is gone that is past its date.
 */
export function watchAged({ ledger, deletions, report, world }: Watch): Watcher & Aged {
  const { retention, every, durability } = world.plan;
  const looks = new Map<string, RestLook>();
  /** By process and user. */
  const seen = new Map<string, Look>();
  /** Of users, what who planned their deletion had seen. */
  const planned = new Map<string, Look | undefined>();
  const listed = new Map<string, number>();
  const owners = new Map<string, string>();
  /** Users whose tokens were erased while somebody could come in with them. */
  const hadTokens = new Set<string>();
  /** Threads and anonymous users as the channel has them. */
  let entries: { kind: "thread" | "user"; id: string; isThere: boolean; position: number }[] = [];
  let hasLost = false;

  const fail = (uid: string | null, text: string) => report("deleted-when-due", uid, text);

  /** A clock that is set back between two readings says nothing of what came first. */
  const areClocksRight = every["clock jumps"] === null;

  function checkLook({ nowMs, untilMs, by }: RestLook): void {
    const { threadsMs } = retention ?? { threadsMs: null };
    if (threadsMs === null) return fail(null, `${by} looks for threads that are kept for good`);
    if (untilMs > nowMs - threadsMs + 1) fail(null, `${by} takes ${nowMs - untilMs} ms for ${threadsMs} ms`);
  }

  function checkErased({ uid, by, where }: Extract<Happening, { type: "erased" }>): void {
    if (where.position === null || deletions.isAsked(uid)) return;
    deletions.noteAged(uid);
    const { lost } = ledger.truth(uid);
    const look = looks.get(by);
    const spokenAtMs = Math.max(lost?.spokenAtMs ?? 0, listed.get(uid) ?? 0);
    // What a failover took back may have been listed, or planned.
    if (hasLost || ledger.isCut(uid, 0)) return;
    if (!look) fail(uid, `${by} deletes it, and nobody asked for that`);
    else if (spokenAtMs > look.untilMs)
      fail(uid, `${by} deletes it ${Math.round(spokenAtMs - look.untilMs)} ms before its time`);
  }

  function checkUser({ left, where }: Extract<Happening, { type: "user left" }>): void {
    const { userId, uids, was } = left;
    if (where.position === null) return;
    if (deletions.isUserWanted(userId)) return uids.forEach((uid) => deletions.noteWanted(uid));
    const young = was === null ? [] : uids.filter((uid) => isTooYoung(uid, planned.get(userId)));
    for (const uid of uids) deletions.noteAged(uid);
    if (was === null) return;
    const isAstray = hasLost || !areClocksRight;
    if (was.externalId !== null) fail(null, `${was.externalId} is deleted, and nobody asked for that`);
    if ((was.hadToken || hadTokens.has(userId)) && !isAstray)
      fail(null, `a user is deleted who has a valid token`);
    const [first] = young;
    if (first !== undefined && !isAstray) fail(first, "its user is deleted, and it is too young");
  }

  function spokenAtMs(uid: string): number {
    const truth = ledger.truth(uid);
    return Math.max(listed.get(uid) ?? 0, (truth.lost ?? contentOf(truth)).spokenAtMs);
  }

  /** As it was seen: what came since, such as the end of a call, goes with its user. */
  function isTooYoung(uid: string, look: Look | undefined): boolean {
    const allowedMs = (look?.nowMs ?? -Infinity) - (retention?.anonymousMs ?? Infinity);
    return !ledger.truth(uid).isErased && (look?.spokenInMs.get(uid) ?? spokenAtMs(uid)) > allowedMs;
  }

  /** Nobody may be told that a message is taken which went with its thread, or came after it. */
  function checkAnswered({ about }: Exchange, status: number): void {
    if (about.type !== "say" || status !== 200 || hasLost) return;
    if (!deletions.isAged(about.uid) || deletions.isWanted(about.uid)) return;
    const { lost } = ledger.truth(about.uid);
    if (!lost || lost.texts.includes(about.text)) return;
    fail(about.uid, `“${about.text}” is answered with 200, and its thread was deleted before it came`);
  }

  function note(kind: "thread" | "user", id: string, { isThere, where }: { isThere: boolean; where: Where }) {
    if (where.position !== null) entries.push({ kind, id, isThere, position: where.position });
  }

  function namesOf(wanted: "thread" | "user"): string[] {
    const there = new Set<string>();
    for (const { kind, id, isThere } of entries) {
      if (kind === wanted && isThere) there.add(id);
      if (kind === wanted && !isThere) there.delete(id);
    }
    return [...there];
  }

  const usersLeft = () => (retention?.anonymousMs == null ? [] : namesOf("user"));
  const threadsLeft = () => (retention?.threadsMs == null ? [] : namesOf("thread"));

  /** What was lost in a failover may be on no list any more, or back. */
  const isExcused = () => retention === null || hasLost;

  return {
    isOver: () => isExcused() || (threadsLeft().length === 0 && usersLeft().length === 0),

    see(happening) {
      const { type } = happening;
      if ((type === "writes lost" || type === "stragglers back") && durability === "local") hasLost = true;
      if (type === "writes lost" && happening.node === world.cluster.ofChannel("shop"))
        entries = entries.filter(({ position }) => position <= happening.kept);
      if (type === "thread listed") {
        const { uid, userId, atMs, where } = happening;
        listed.set(uid, atMs);
        owners.set(uid, userId);
        note("thread", uid, { isThere: true, where });
      }
      if (type === "thread unlisted")
        note("thread", happening.uid, { isThere: false, where: happening.where });
      if (type === "token erased") hadTokens.add(happening.userId);
      if (type === "user came") note("user", happening.userId, { isThere: true, where: happening.where });
      if (type === "user left") {
        checkUser(happening);
        for (const uid of happening.left.uids)
          note("thread", uid, { isThere: false, where: happening.where });
        note("user", happening.left.userId, { isThere: false, where: happening.where });
      }
      if (type === "deletion" && happening.step === "planned" && happening.deletion.kind === "user") {
        const { id } = happening.deletion;
        if (!planned.has(id)) planned.set(id, seen.get(`${happening.by} ${id}`));
      }
      if (type === "user looked at") {
        const { by, userId, nowMs } = happening;
        const own = [...owners].filter(([, owner]) => owner === userId);
        const spokenInMs = new Map(own.map(([uid]) => [uid, spokenAtMs(uid)]));
        seen.set(`${by} ${userId}`, { nowMs, spokenInMs });
      }
      if (type === "rest looked for") {
        looks.set(happening.look.by, happening.look);
        checkLook(happening.look);
      }
      if (type === "erased") checkErased(happening);
      if (type === "answered") checkAnswered(happening.exchange, happening.status);
    },

    atRest() {
      if (isExcused()) return;
      for (const uid of threadsLeft())
        report("due-is-deleted", uid, "it is past its date, and on the list still");
      const users = usersLeft();
      if (users.length > 0) report("due-is-deleted", null, `${users.length} users are there still`);
    },
  };
}
