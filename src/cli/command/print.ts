import { printable } from "../../client/core/printable.ts";
import type { Terminal } from "./terminal.ts";

export type Cell = string | number | boolean | null;

/** A result for scripts: one JSON document. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** A result for people: columns as wide as their widest cell; `empty` if there are no rows. */
export function printTable(
  terminal: Terminal,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty: string,
): void {
  if (rows.length === 0) {
    terminal.out(`${empty}\n`);
    return;
  }
  for (const line of tableLines([head, ...rows]).lines) terminal.out(`${line}\n`);
}

/** Rows as lines. `least`: the minimum widths of the columns. */
export function tableLines(
  rows: readonly (readonly Cell[])[],
  least: readonly number[] = [],
): { lines: string[]; widths: number[] } {
  const texts = rows.map((row) => row.map(cellText));
  const widths = (texts[0] ?? []).map((_, column) =>
    Math.max(least[column] ?? 0, ...texts.map((line) => line[column]?.length ?? 0)),
  );
  const lines = texts.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return { lines, widths };
}

/** One record for people: a name and a value on each line. */
export function printFields(terminal: Terminal, fields: Record<string, unknown>): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) {
    const text = isCell(value) ? cellText(value) : JSON.stringify(value);
    terminal.out(`${name.padEnd(width)}  ${printable(text)}\n`);
  }
}

function isCell(value: unknown): value is Cell {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function cellText(cell: Cell): string {
  if (cell === null) return "-";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return printable(String(cell)).replace(/[\n\t]/g, " ");
}
