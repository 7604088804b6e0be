import { addUsage } from "../../machines/run.ts";
import type { Usage } from "../../machines/run.ts";
import { differencesOf, differs } from "./differences.ts";
import type { CheckedCase } from "./junit.ts";
import { costOf } from "./prices.ts";
import type { Prices } from "./prices.ts";

/** The results of all cases. */
export interface Summary {
  cases: number;
  exchanges: { all: number; asRecorded: number; different: number; notPlayed: number };
  checks: { all: number; failed: number };
  /** Unfinished cases. */
  ended: number;
  /** null: no model reported them. */
  tokens: Usage | null;
  /** The record's tokens, as far as it has them. */
  recordedTokens: Usage | null;
  /** Exchanges recorded without tokens. */
  recordedUnknown: number;
  /** A string says why it is unknown; null: no prices were given. */
  cost: number | string | null;
  currency: string | null;
}

export function summaryOf(cases: readonly CheckedCase[], prices: Prices | null): Summary {
  const played = cases.map((each) => each.played);
  const compared = played.flatMap(({ recorded, exchanges }) =>
    exchanges.flatMap((one, nth) => {
      const then = recorded.exchanges[nth];
      return then ? [differs(differencesOf(then, one))] : [];
    }),
  );
  const all = played.reduce((sum, { recorded }) => sum + recorded.exchanges.length, 0);
  const different = compared.filter(Boolean).length;
  const checks = cases.flatMap((each) => each.checks);
  const then = played.flatMap(({ recorded }) => recorded.exchanges.map(({ usage }) => usage ?? null));
  const turns = played.flatMap(({ exchanges }) => exchanges.flatMap((each) => each.turns));
  return {
    cases: cases.length,
    exchanges: {
      all,
      asRecorded: compared.length - different,
      different,
      notPlayed: all - compared.length,
    },
    checks: { all: checks.length, failed: checks.filter(({ fault }) => fault !== null).length },
    ended: played.filter(({ ended }) => ended !== null).length,
    tokens: sumOf(turns.map(({ usage }) => usage)),
    recordedTokens: sumOf(then),
    recordedUnknown: then.filter((usage) => usage === null).length,
    cost: prices === null ? null : costOf(turns, prices),
    currency: prices?.currency ?? null,
  };
}

export function sumOf(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce<Usage | null>(addUsage, null);
}
