import { newId } from "../../../domain/ids.ts";
import type { UserStore } from "../../../store.ts";
import type { Check, Engine, Pair, Write } from "../../engine.ts";
import { tables, USER } from "../../tables.ts";
import { fieldIs } from "../field-is.ts";
import { inTurn } from "../in-turn.ts";
import { untilApplied } from "../until-applied.ts";
import { createKnown } from "../known.ts";
import { slotOfChannel } from "./user-record.ts";

type Thread = Parameters<UserStore["addThread"]>[0];

/**
 * What a step writes to give a user a thread under a name that is new: fields of the user, and then the rest. The name comes
 * last: it decides whose the thread is. `threads`: USER.threads as it was read; `fresh`: as it is then.
 */
export function newThread(
  { slug, userId, threadId: name, uid, atMs }: Thread,
  threads: string | null,
): { checks: Check[]; fresh: string; fields: Pair[]; writes: Write[] } {
  const names = tables.names.key(slug, userId);
  const entry = `${uid} ${atMs}`;
  const fresh = newId();
  return {
    checks: [
      fieldIs(tables.user.key(slug, userId), USER.threads, threads, fresh),
      fieldIs(names, name, null, entry),
    ],
    fresh,
    fields: [[USER.threads, fresh]],
    writes: [
      { write: "set", key: tables.owners.key(slug), fields: [[uid, ownerText(userId, name)]] },
      { write: "put", key: tables.activity.key(slug), members: [[uid, atMs]], mode: "new" },
      { write: "set", key: names, fields: [[name, entry]] },
    ],
  };
}

/** What the list of owners has of a thread. */
export function ownerText(userId: string, name: string): string {
  return `${userId} ${name}`;
}

export function threadAddition(engine: Engine): Pick<UserStore, "addThread"> {
  const turn = inTurn();
  /** USER.threads as this process writes it last, answered or not: most additions take one step, also many at once. */
  const lasts = createKnown<string>();

  /** An object: `threads` is another one. */
  async function attempt(
    thread: Thread,
    threads: string | null,
  ): Promise<boolean | { threads: string | null }> {
    const { slug, userId } = thread;
    const key = tables.user.key(slug, userId);
    const { checks, fresh, fields, writes } = newThread(thread, threads);
    lasts.set(key, fresh);
    const { type, reads } = await engine.apply({
      slot: slotOfChannel(slug),
      checks: [fieldIs(key, USER.id, userId), ...checks],
      writes: [{ write: "set", key, fields }, ...writes],
      reads: [
        { read: "fields", key, fields: [USER.id, USER.threads] },
        { read: "fields", key: tables.names.key(slug, userId), fields: [thread.threadId] },
      ],
    });
    if (type !== "failed") return true;
    lasts.forget(key);
    const [[id, now = null], [entry]] = reads;
    if (id === null) return false;
    return entry === null ? { threads: now } : true;
  }

  return {
    async addThread(thread) {
      const key = tables.user.key(thread.slug, thread.userId);
      let result = await attempt(thread, lasts.get(key) ?? null);
      if (typeof result === "boolean") return result;
      let { threads } = result;
      // Others of this process add threads to the same user, perhaps.
      return turn(key, () =>
        untilApplied("add a thread", async () => {
          result = await attempt(thread, threads);
          if (typeof result === "boolean") return result;
          ({ threads } = result);
          return undefined;
        }),
      );
    },
  };
}
