import { median, quantile, shown, withSpread } from "../rig/numbers.ts";
import type { Section, Table } from "../rig/section.ts";
import type { Entrant, Results } from "./field.ts";
import { BURST, overOwn, SLOW, SPACED } from "./outcome.ts";
import type { Outcome, Timed } from "./outcome.ts";
import { targetsOf } from "./targets.ts";

/** The tables, and the targets' results. */
export function sectionOf(outcome: Outcome): Section {
  return {
    title: "Peers",
    tables: [burstTable(outcome), spacedTable(outcome), slowTable(outcome)],
    targets: targetsOf(outcome),
  };
}

function burstTable({ itself, field, burst }: Outcome): Table {
  const own = burst.get(itself) ?? [];
  return {
    caption: `${BURST.name}: all chunks of a reply in one write. First text is p50 / p99 from the request on; the model's own: ${bothOf(own, firstMs)} ms. CPU is that of the whole stack for one message.`,
    head: ["who", "messages/s", "first text ms", "CPU ms"],
    rows: rowsOf(field, burst, (measured) => [
      withSpread(measured.map(({ perSecond }) => perSecond)),
      bothOf(measured, firstMs),
      withSpread(measured.map(({ cpuMs }) => cpuMs)),
    ]),
  };
}

function spacedTable({ itself, field, spaced }: Outcome): Table {
  const own = spaced.get(itself) ?? [];
  return {
    caption: `${SPACED.name} between two chunks; the model's own first text: ${bothOf(own, firstMs)} ms.`,
    head: ["who", "messages/s", "first text ms", "p50 over the model's own", "CPU ms"],
    rows: rowsOf(field, spaced, (measured) => [
      withSpread(measured.map(({ perSecond }) => perSecond)),
      bothOf(measured, firstMs),
      withSpread(overOwn(measured, own)),
      withSpread(measured.map(({ cpuMs }) => cpuMs)),
    ]),
  };
}

function slowTable({ itself, field, slow, idleMb, afterMb }: Outcome): Table {
  const own = slow.get(itself) ?? [];
  return {
    caption: `${SLOW.users} streams of 20 chunks, ${SLOW.everyMs} ms apart, all begun at one moment; the model's own first text: ${bothOf(own, firstMs)} ms. Memory (RSS) of all processes of the stack: at rest after the start, and after it all.`,
    head: [
      "who",
      "first text ms",
      "p50 over the model's own",
      "whole reply ms",
      "CPU ms",
      "idle MB",
      "MB after it all",
    ],
    rows: rowsOf(field, slow, (measured, entrant) => [
      bothOf(measured, firstMs),
      withSpread(overOwn(measured, own)),
      bothOf(measured, ({ totalMs }) => totalMs),
      withSpread(measured.map(({ cpuMs }) => cpuMs)),
      shown(idleMb.get(entrant) ?? NaN),
      shown(afterMb.get(entrant) ?? NaN),
    ]),
  };
}

function rowsOf<Result>(
  field: readonly Entrant[],
  results: Results<Result>,
  cells: (measured: Result[], entrant: Entrant) => string[],
): string[][] {
  return field.map((entrant) => {
    const measured = results.get(entrant);
    return measured
      ? [entrant.name, ...cells(measured, entrant)]
      : [entrant.name, `not measured: ${entrant.why}`];
  });
}

const firstMs = (measured: Timed) => measured.firstMs;

/** p50 / p99, each the median of the repeats. */
function bothOf(measured: readonly Timed[], pick: (one: Timed) => number[]): string {
  const at = (share: number) => shown(median(measured.map((one) => quantile(pick(one), share))));
  return `${at(0.5)} / ${at(0.99)}`;
}
