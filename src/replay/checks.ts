import { isDeepStrictEqual } from "node:util";
import type { Checks, ReplayCase, WantedCall } from "./case.ts";
import type { PlayedCall, PlayedCase, PlayedExchange } from "./play.ts";
import type { Judge } from "./judge.ts";

/** The result of one check. */
export interface CheckResult {
  check: keyof Checks;
  /** The requirement, as text. */
  wanted: string;
  /** The check's exchange, counted from 0; null: it is a check of the whole case. */
  exchange: number | null;
  /** null: it holds. */
  fault: string | null;
}

/** The input of a check. */
interface Seen {
  exchange: number | null;
  exchanges: readonly PlayedExchange[];
}

/** Runs the checks of all played exchanges; those of the whole case only if it was finished. */
export async function checkCase(
  played: PlayedCase,
  judge: Judge | null,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const { recorded, exchanges, ended } = played;
  const results: CheckResult[] = [];
  for (const [exchange, one] of exchanges.entries()) {
    const { checks = {} } = recorded.exchanges[exchange] ?? {};
    const upTo = exchanges.slice(0, exchange + 1);
    results.push(...plainChecks(checks, { exchange, exchanges: [one] }));
    results.push(...(await judged(checks, { exchange, exchanges: upTo }, { played, judge, signal })));
  }
  if (ended !== null) return results;
  const { checks = {} } = recorded;
  results.push(...plainChecks(checks, { exchange: null, exchanges }));
  results.push(...(await judged(checks, { exchange: null, exchanges }, { played, judge, signal })));
  return results;
}

/** Does a case need a judge? */
export function needsJudge(recorded: ReplayCase): boolean {
  return [recorded, ...recorded.exchanges].some(({ checks }) => checks?.judge !== undefined);
}

function plainChecks(checks: Checks, { exchange, exchanges }: Seen): CheckResult[] {
  const { contains = [], calls = [], notCalls = [], maxTurns } = checks;
  const made = exchanges.flatMap((each) => each.calls);
  const turns = exchanges.reduce((sum, each) => sum + each.turns.length, 0);
  const lacks = exchange === null ? "no reply contains it" : "the reply does not contain it";
  return [
    ...contains.map((wanted) => {
      const isThere = exchanges.some(({ reply }) => reply.includes(wanted));
      return of("contains", wanted, isThere ? null : lacks);
    }),
    ...missingCalls(calls, made).map(({ wanted, isMade }) =>
      of("calls", shown(wanted), isMade ? null : `it made ${listed(made)}`),
    ),
    ...notCalls.map((tool) => {
      const found = made.find((call) => call.tool === tool);
      return of("notCalls", tool, found ? `it made ${shown(found)}` : null);
    }),
    ...(maxTurns === undefined
      ? []
      : [of("maxTurns", String(maxTurns), turns <= maxTurns ? null : `it took ${turns} turns`)]),
  ];

  function of(check: CheckResult["check"], wanted: string, fault: string | null): CheckResult {
    return { check, wanted, exchange, fault };
  }
}

/** Each call that was made satisfies only one wanted call. */
function missingCalls(wanted: readonly WantedCall[], made: readonly PlayedCall[]) {
  const left = [...made];
  return wanted.map((call) => {
    const at = left.findIndex(
      ({ tool, arguments: args }) =>
        tool === call.tool &&
        Object.entries(call.arguments).every(([name, value]) => isDeepStrictEqual(args[name], value)),
    );
    if (at >= 0) left.splice(at, 1);
    return { wanted: call, isMade: at >= 0 };
  });
}

async function judged(
  { judge: criteria = [] }: Checks,
  { exchange, exchanges }: Seen,
  { played, judge, signal }: { played: PlayedCase; judge: Judge | null; signal: AbortSignal },
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const wanted of criteria) {
    const fault =
      judge === null
        ? "nobody judges: --judge-model is missing"
        : await judge({ recorded: played.recorded, exchanges, criterion: wanted }, signal);
    results.push({ check: "judge", wanted, exchange, fault });
  }
  return results;
}

function listed(calls: readonly PlayedCall[]): string {
  return calls.length === 0 ? "no calls" : calls.map(shown).join(", ");
}

function shown({ tool, arguments: args }: Pick<PlayedCall, "tool" | "arguments">): string {
  return Object.keys(args).length === 0 ? tool : `${tool}(${JSON.stringify(args)})`;
}
