import type { Turn } from "../agent.ts";
import type { AgentSettings } from "../domain/channels/channel.ts";
import type { Usage } from "../../machines/run.ts";
import type { ModelMessage } from "../model.ts";
import type { PlainLog } from "../log.ts";
import { estimateTokens } from "./history/history-budget.ts";

/** The tokens of a UTC day (`YYYY-MM-DD`). Used only if there is a daily cap. */
export interface Spending {
  today(): string;
  spent(slug: string, userId: string, day: string): Promise<number>;
  /** Adds to the user's tokens; below zero, takes away. */
  spend(spent: { slug: string; userId: string; day: string; tokens: number }): Promise<void>;
  /** The counts under these names. */
  counted(names: readonly string[], day: string): Promise<number[]>;
  /** Adds to each of these counts; below zero, takes away. */
  count(counted: { names: readonly string[]; day: string; tokens: number }): Promise<void>;
}

export const RUN_BUDGET_SPENT = "This answer has reached the length that is set for one answer here.";
const DAY_BUDGET_SPENT = "You have reached today's limit of this chat. Please come back tomorrow.";

/** Output tokens that the run may still use: 0 or less if they are used up; null if the channel has no cap. */
export function outputLeft(settings: AgentSettings, { run, usage }: Turn): number | null {
  if (settings.maxOutputTokensPerRun === undefined) return null;
  const used = usage?.output ?? estimateTokens(run.turns.flatMap(asOutput));
  return settings.maxOutputTokensPerRun - used;
}

function asOutput(item: Turn["run"]["turns"][number]): ModelMessage[] {
  if (item.type !== "assistant") return [];
  const calls = item.calls.map((call) => ({ ...call, name: call.offeredName }));
  return [{ role: "assistant", content: item.text, calls }];
}

/** Whose daily tokens a cap limits. */
export type DayCap = "user" | "channel" | "installation" | "address";

/** The names under which a day's tokens are counted, as `Spending` takes them. */
export const CAP_NAMES = {
  installation: "installation",
  channel: (slug: string) => `channel ${slug}`,
  address: (hash: string) => `address ${hash}`,
} as const;

/** The caps of the installation, which no channel can set; null: none. */
export interface SharedCaps {
  /** MAX_TOKENS_PER_DAY */
  installation: number | null;
  /** ADDRESS_MAX_TOKENS_PER_DAY */
  address: number | null;
}

/** Who spends: a turn, or a summary. */
export interface Spender {
  slug: string;
  run: Pick<Turn["run"], "userId" | "address">;
}

export interface DailyBudget {
  /** The cap that is used up; null if none is. All are read at once. */
  spentCap(settings: AgentSettings, turn: Spender): Promise<DayCap | null>;
  /** The account of a turn that is about to be made; null: no cap counts it. */
  account(settings: AgentSettings, turn: Spender): Account | null;
}

/** What a turn counts against the daily caps. */
export interface Account {
  /** Counts `cost` as the turn's first request is sent: a process that dies before the turn's end leaves that. Once. */
  book(cost: Usage | null): void;
  /** Corrects that to the turn's cost, on the same day. Resolves when both are counted. */
  settle(cost: Usage | null): Promise<void>;
}

/** The message for the visitor. */
export const DAY_SENTENCES: Record<DayCap, string> = {
  user: DAY_BUDGET_SPENT,
  address: DAY_BUDGET_SPENT,
  channel: "This chat has reached its limit for today. Please come back tomorrow.",
  installation: "This chat has reached its limit for today. Please come back tomorrow.",
};

/** The daily caps. Without `spending` there are none; tokens without a cap are neither read nor counted. */
export function createDailyBudget({
  spending,
  caps = { installation: null, address: null },
  log,
}: {
  spending?: Spending;
  caps?: SharedCaps;
  log: Pick<PlainLog, "warn">;
}): DailyBudget {
  /** The caps that count under a name, each with it. */
  function counted({ maxTokensPerDay }: AgentSettings, { slug, run }: Spender): Counted[] {
    return [
      ...capped("channel", maxTokensPerDay, CAP_NAMES.channel(slug)),
      ...capped("installation", caps.installation, CAP_NAMES.installation),
      ...(run.address === undefined ? [] : capped("address", caps.address, CAP_NAMES.address(run.address))),
    ];
  }

  return {
    async spentCap(settings, turn) {
      if (!spending) return null;
      const { slug, run } = turn;
      const { maxTokensPerUserPerDay: ofUser } = settings;
      const others = counted(settings, turn);
      if (ofUser === undefined && others.length === 0) return null;
      const day = spending.today();
      const [spent, counts] = await Promise.all([
        ofUser === undefined ? 0 : spending.spent(slug, run.userId, day),
        others.length === 0
          ? []
          : spending.counted(
              others.map(({ name }) => name),
              day,
            ),
      ]);
      if (ofUser !== undefined && spent >= ofUser) return "user";
      return others.find(({ most }, nth) => (counts[nth] ?? 0) >= most)?.cap ?? null;
    },

    account(settings, turn) {
      if (!spending) return null;
      const { slug, run } = turn;
      const { userId } = run;
      const countsUser = settings.maxTokensPerUserPerDay !== undefined;
      const names = counted(settings, turn).map(({ name }) => name);
      if (!countsUser && names.length === 0) return null;
      const day = spending.today();

      /** Resolves to what was counted. */
      async function add(tokens: number): Promise<number> {
        if (tokens === 0) return 0;
        try {
          await Promise.all([
            countsUser && spending?.spend({ slug, userId, day, tokens }),
            names.length > 0 && spending?.count({ names, day, tokens }),
          ]);
          return tokens;
        } catch (error) {
          // The turn is paid for and its answer is here: a failure to count must not lose it.
          log.warn({ err: error, slug }, "cannot note the tokens that were spent");
          return 0;
        }
      }

      let booking: Promise<number> | null = null;
      return {
        book(cost) {
          booking ??= add(sumOf(cost));
        },
        async settle(cost) {
          await add(sumOf(cost) - ((await booking) ?? 0));
        },
      };
    },
  };
}

interface Counted {
  cap: DayCap;
  most: number;
  name: string;
}

function capped(cap: DayCap, most: number | null | undefined, name: string): Counted[] {
  return typeof most === "number" ? [{ cap, most, name }] : [];
}

function sumOf(cost: Usage | null): number {
  return cost ? cost.input + cost.output : 0;
}
