import { cutText } from "../../../machines/line.ts";
import type { CheckResult } from "../../replay/checks.ts";
import { differencesOf, differs, toldNow, toldThen } from "../../replay/differences.ts";
import type { Differences } from "../../replay/differences.ts";
import type { CheckedCase } from "../../replay/junit.ts";
import { sumOf } from "../../replay/summary.ts";
import type { Summary } from "../../replay/summary.ts";
import type { Usage } from "../../../machines/run.ts";
import { printFields, printJson, printTable } from "../command/print.ts";
import type { Terminal } from "../command/terminal.ts";

/** The longest cell: two replies and the calls must fit side by side. */
const CELL_CHARS = 48;

/** The report for people: the differences, the failed checks, and the cost. */
export function printReport(terminal: Terminal, cases: readonly CheckedCase[], summary: Summary): void {
  printRows(terminal, ["CASE", "#", "RECORDED", "NEW", "CALLS", "TOKENS"], cases.flatMap(rowsOf));
  printRows(terminal, ["CASE", "#", "ENDED, FOR"], cases.flatMap(endedRow));
  printRows(terminal, ["CASE", "#", "FAILED", "WANTED", "WHY"], cases.flatMap(failedRows));
  printFields(terminal, fieldsOf(summary));
}

/** A table and an empty line after it; nothing if it has no rows. */
function printRows(terminal: Terminal, head: string[], rows: (string | number | null)[][]): void {
  if (rows.length === 0) return;
  printTable(terminal, head, rows, "");
  terminal.out("\n");
}

function endedRow({ played: { recorded, ended } }: CheckedCase) {
  return ended === null ? [] : [[recorded.name, ended.exchange + 1, ended.reason]];
}

function failedRows({ played: { recorded }, checks }: CheckedCase) {
  return checks
    .filter(({ fault }) => fault !== null)
    .map(({ check, wanted, exchange, fault }) => [recorded.name, placeOf(exchange), check, wanted, fault]);
}

/** Only exchanges that differ from the recording. */
function rowsOf({ played: { recorded, exchanges } }: CheckedCase) {
  return exchanges.flatMap((one, nth) => {
    const then = recorded.exchanges[nth];
    if (!then) return [];
    const differences = differencesOf(then, one);
    if (!differs(differences)) return [];
    const tokens = sumOf(one.turns.map(({ usage }) => usage));
    return [
      [
        recorded.name,
        nth + 1,
        differences.reply ? cell(toldThen(then)) : "(the same)",
        differences.reply ? cell(toldNow(one)) : "(the same)",
        callsCell(differences),
        `${tokensText(then.usage ?? null)} → ${tokensText(tokens)}`,
      ],
    ];
  });
}

/** `-`: calls of the recording that are missing now; `+`: new calls. */
function callsCell({ missing, added }: Differences): string | null {
  const calls = [
    ...missing.map(({ tool, arguments: args }) => `-${shown(tool, args)}`),
    ...added.map(({ tool, arguments: args }) => `+${shown(tool, args)}`),
  ];
  return calls.length === 0 ? null : calls.join(" ");
}

function shown(tool: string, args: unknown): string {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return text === "{}" ? tool : `${tool}(${cell(text)})`;
}

function cell(text: string): string {
  return text.length <= CELL_CHARS ? text : `${cutText(text, CELL_CHARS - 1)}…`;
}

function tokensText(usage: Usage | null): string {
  return usage === null ? "?" : String(usage.input + usage.output);
}

function placeOf(exchange: number | null): string {
  return exchange === null ? "all" : String(exchange + 1);
}

function fieldsOf({ cases, exchanges, checks, ended, ...costs }: Summary): Record<string, string> {
  const { tokens, recordedTokens, recordedUnknown, cost, currency } = costs;
  const unknown = recordedUnknown === 0 ? "" : `; unknown for ${recordedUnknown} of ${exchanges.all}`;
  return {
    cases: ended === 0 ? String(cases) : `${cases}, of which ${ended} did not come to an end`,
    exchanges: `${exchanges.all}: ${exchanges.asRecorded} as recorded, ${exchanges.different} different, ${exchanges.notPlayed} not played`,
    checks: checks.all === 0 ? "none" : `${checks.all - checks.failed} of ${checks.all} hold`,
    tokens: `${inAndOut(tokens)} (recorded: ${inAndOut(recordedTokens)}${unknown})`,
    ...(cost === null ? {} : { cost: costText(cost, currency) }),
  };
}

function inAndOut(usage: Usage | null): string {
  return usage === null ? "not told" : `${usage.input} in, ${usage.output} out`;
}

function costText(cost: number | string, currency: string | null): string {
  return typeof cost === "string" ? `not known: ${cost}` : `${cost.toFixed(6)} ${currency}`;
}

/** The whole report, for scripts. */
export function printJsonReport(terminal: Terminal, cases: readonly CheckedCase[], summary: Summary): void {
  printJson(terminal, { summary, cases: cases.map(jsonOf) });
}

function jsonOf({ played: { recorded, exchanges, ended, elapsedMs }, checks }: CheckedCase) {
  return {
    name: recorded.name,
    ...(ended === null ? {} : { ended: { ...ended, exchange: ended.exchange + 1 } }),
    elapsedMs: Math.round(elapsedMs),
    exchanges: exchanges.flatMap((played, nth) => {
      const then = recorded.exchanges[nth];
      if (!then) return [];
      const { checks: _, ...record } = then;
      const { missing, added, reply } = differencesOf(then, played);
      return [{ recorded: record, played, different: { reply, missing, added } }];
    }),
    checks: checks.map(checkJson),
  };
}

function checkJson({ exchange, fault, ...check }: CheckResult) {
  return { ...check, exchange: exchange === null ? null : exchange + 1, holds: fault === null, fault };
}
