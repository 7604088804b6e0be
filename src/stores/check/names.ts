import type { ListedThread } from "../../store/users.ts";
import type { Rule } from "./rules.ts";
import { BUSY_STATES } from "../busy-states.ts";
import type { Engine, Pair } from "../engine.ts";
import { fieldIs } from "../steps/field-is.ts";
import { ownedThread } from "../steps/orders/owners.ts";
import { glanceAt } from "../steps/threads/glance.ts";
import { ownerText } from "../steps/users/new-thread.ts";
import { threadEntryFrom } from "../steps/users/user-record.ts";
import { tables } from "../tables.ts";
import type { WalkedKey } from "../walk.ts";
import { fieldsChecker, mending, orphanChecker, put, set } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";

/** A name for a thread, what the thread says, and what the channel's lists say of it. */
interface Named {
  /** The name, and its value. */
  pair: Pair;
  thread: ListedThread;
  owner: string | null;
  activeAtMs: number | null;
  /** In the list of its state. */
  busyAtMs: number | null;
}

/**
 * Rules for a user's names for threads, which decide whose a thread is: the channel's lists must have each of them in its
 * place. The thread itself says when it was last active, and its state.
 */
export function nameCheckers(engine: Engine): Record<"names" | "days", Checker[]> {
  const ofNobody = orphanChecker(engine, "thread names of nobody", tables.user.key);

  async function read({ tag: slug, id: userId }: WalkedKey, pairs: readonly Pair[]): Promise<Named[]> {
    const entries = pairs.map(([name, text]) => threadEntryFrom(name, text));
    const uids = entries.map(({ uid }) => uid);
    const scores = (key: string) => ({ read: "scores", key, members: uids }) as const;
    const [[isUser, owners, activity, ...busy], threads] = await Promise.all([
      engine.read([
        { read: "exists", key: tables.user.key(slug, userId) },
        { read: "fields", key: tables.owners.key(slug), fields: uids },
        scores(tables.activity.key(slug)),
        ...BUSY_STATES.map((state) => scores(tables.busy.key(slug, state))),
      ]),
      Promise.all(entries.map((entry) => glanceAt(engine, entry))),
    ]);
    if (!isUser) return [];
    return threads.map((thread, nth) => ({
      pair: pairs[nth] ?? ["", ""],
      thread,
      owner: owners[nth] ?? null,
      activeAtMs: activity[nth] ?? null,
      busyAtMs: busy[BUSY_STATES.findIndex((state) => state === thread.state)]?.[nth] ?? null,
    }));
  }

  async function ownerFaults({ key, tag: slug, id: userId }: WalkedKey, named: Named): Promise<Fault[]> {
    const { pair, thread, owner } = named;
    const [name, text] = pair;
    const right = ownerText(userId, name);
    // A merge that was stopped leaves a thread with both users: either will do.
    if (owner === right || (await ownedThread(engine, slug, thread.uid, owner))) return [];
    const owners = tables.owners.key(slug);
    const checks = [fieldIs(key, name, text), fieldIs(owners, thread.uid, owner)];
    const mend = mending(engine, checks, set(owners, thread.uid, right));
    const what = `${owners} ${thread.uid}`;
    return [{ rule: "owner of a thread is not listed", what, entry: name, mend }];
  }

  function placeFaults({ key, tag: slug }: WalkedKey, { pair, thread, ...listed }: Named): Fault[] {
    const [name, text] = pair;
    const { uid, state, updatedAtMs } = thread;
    const misplaced = (list: string, atMs: number | null, about: { rule: Rule; what: string }): Fault[] => {
      if (isAtItsActivity(atMs, updatedAtMs)) return [];
      const checks = [
        fieldIs(key, name, text),
        { check: "score", key: list, member: uid, is: [atMs] } as const,
      ];
      const mend = mending(engine, checks, put(list, uid, updatedAtMs));
      return [{ ...about, entry: name, version: `${state} ${updatedAtMs}`, settles: true, mend }];
    };
    const activity = tables.activity.key(slug);
    const inActivity = misplaced(activity, listed.activeAtMs, {
      rule: "thread is not at its last activity",
      what: `${activity} ${uid}`,
    });
    if (state === "idle") return inActivity;
    const about = { rule: "thread is not listed by its state", what: uid } as const;
    return [...inActivity, ...misplaced(tables.busy.key(slug, state), listed.busyAtMs, about)];
  }

  async function look(walked: WalkedKey, pairs: readonly Pair[]): Promise<Fault[]> {
    const named = await read(walked, pairs.filter(isReadable));
    const owners = await Promise.all(named.map((one) => ownerFaults(walked, one)));
    const places = named.map((one) => placeFaults(walked, one));
    const unreadable = pairs
      .filter((pair) => !isReadable(pair))
      .map(([name]): Fault => {
        return { rule: "record cannot be read", what: `${walked.key} ${name}`, entry: name };
      });
    return [...owners, ...places, unreadable].flat();
  }

  return { names: [ofNobody, fieldsChecker(engine, look)], days: [ofNobody] };
}

/** How far a list may be behind. */
const BEHIND_MS = 5_000;
/** How far a list may be ahead: a commit that did not happen leaves its time there, and clocks differ. */
const AHEAD_MS = 60_000;

/** True if a list has the thread at its last activity. `atMs` null: the thread is not in it. */
function isAtItsActivity(atMs: number | null, updatedAtMs: number): boolean {
  return atMs !== null && updatedAtMs - atMs <= BEHIND_MS && atMs - updatedAtMs <= AHEAD_MS;
}

/** `UID CREATED_AT_MS` */
function isReadable([name, text]: Pair): boolean {
  const { uid, createdAtMs } = threadEntryFrom(name, text);
  return uid !== "" && Number.isSafeInteger(createdAtMs);
}
