import type { UserStore } from "../../../store.ts";
import { slotOf } from "../../engine.ts";
import type { Write } from "../../engine.ts";
import { tables, USER } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { untilApplied } from "../until-applied.ts";
import { joinedAdds } from "./joined-adds.ts";
import { createKnown } from "../known.ts";
import { idRead, slotOfChannel } from "./user-record.ts";

type Spent = Omit<Parameters<UserStore["spendTokens"]>[0], "tokens">;
type Spending = Pick<UserStore, "spendTokens" | "spentTokens" | "countTokens" | "countedTokens">;

/** A turn may be counted just after midnight, by a clock that is still before it. */
const COUNT_KEPT_MS = 2 * 86_400_000;
/** Only the present day is ever asked for. */
const DAYS_KEPT = 31;

/** Model tokens, by UTC day: of users, and under names. */
export function spendingSteps({ engine, processId }: StepsContext): Spending {
  const join = joinedAdds();
  /** The last totals of this process, by counter: most additions take one step. */
  const totals = createKnown<string>();

  /** The account that the user became, if the user is gone; null: there is nothing more to do. */
  function spend(counter: string, { slug, userId, day }: Spent, tokens: number): Promise<string | null> {
    const [user, key] = [tables.user.key(slug, userId), tables.days.key(slug, userId)];
    let was = totals.get(counter) ?? null;
    return untilApplied("count a user's tokens", async () => {
      const total = String(Number(was ?? 0) + tokens);
      const { type, reads } = await engine.apply({
        slot: slotOfChannel(slug),
        checks: [fieldIs(user, USER.id, userId), fieldIs(key, day, was)],
        writes: [{ write: "set", key, fields: [[day, total]] }],
        reads: [idRead(slug, userId), { read: "hash", key }, movedRead(slug, userId)],
      });
      const [[id], days, [account = null]] = reads;
      if (type !== "failed") {
        totals.set(counter, total);
        if (was === null) await dropOldest(slug, key, [...days.map(([known]) => known), day]);
        return null;
      }
      if (id === null) return account;
      was = days.find(([known]) => known === day)?.[1] ?? null;
      return undefined;
    });
  }

  async function dropOldest(slug: string, key: string, days: readonly string[]): Promise<void> {
    const fields = days.toSorted().slice(0, -DAYS_KEPT);
    const writes: Write[] = [{ write: "remove", key, fields }];
    if (fields.length > 0) await engine.apply({ slot: slotOfChannel(slug), checks: [], writes });
  }

  /** Each process counts in a field of its own: all of them count under the same names, all the time. */
  async function count(key: string, tokens: number): Promise<void> {
    let was = totals.get(key) ?? null;
    await untilApplied("count tokens", async () => {
      const total = String(Number(was ?? 0) + tokens);
      const { type, reads } = await engine.apply({
        slot: slotOf(key),
        checks: [fieldIs(key, processId, was, total)],
        writes: [
          { write: "set", key, fields: [[processId, total]] },
          { write: "expire", key, inMs: COUNT_KEPT_MS },
        ],
        reads: [{ read: "fields", key, fields: [processId] }],
      });
      if (type === "failed") {
        [[was = null]] = reads;
        return undefined;
      }
      totals.set(key, total);
      return true;
    });
  }

  async function spendJoined(spent: Spent, tokens: number): Promise<void> {
    const counter = `${tables.days.key(spent.slug, spent.userId)} ${spent.day}`;
    await join(counter, tokens, async (all) => {
      const userId = await spend(counter, spent, all);
      // An account is never merged.
      if (userId !== null) await spendJoined({ ...spent, userId }, all);
    });
  }

  return {
    spendTokens: (spent) => spendJoined(spent, spent.tokens),

    async spentTokens(slug, userId, day) {
      const spentBy = (id: string) =>
        ({ read: "fields", key: tables.days.key(slug, id), fields: [day] }) as const;
      const [[id], [spent], [account = null]] = await engine.read([
        idRead(slug, userId),
        spentBy(userId),
        movedRead(slug, userId),
      ]);
      if (id !== null || account === null) return Number(spent ?? 0);
      const [[total]] = await engine.read([spentBy(account)]);
      return Number(total ?? 0);
    },

    async countTokens({ names, day, tokens }) {
      await Promise.all(
        names.map((name) => {
          const key = tables.counted.key(name, day);
          return join(key, tokens, (all) => count(key, all));
        }),
      );
    },

    countedTokens: (names, day) =>
      Promise.all(
        names.map(async (name) => {
          const key = tables.counted.key(name, day);
          const [counts] = await engine.read([{ read: "hash", key }]);
          return counts.reduce((sum, [, tokens]) => sum + Number(tokens), 0);
        }),
      ),
  };
}

function movedRead(slug: string, userId: string) {
  return { read: "fields", key: tables.moved.key(slug, userId), fields: ["into"] } as const;
}
