import { printable } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

type Cell = string | number | boolean | null;

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
  const lines = [head, ...rows].map((row) => row.map(cellText));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    const padded = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    terminal.out(`${padded.join("  ").trimEnd()}\n`);
  }
}

/** One thing for people: a name and a value on each line. */
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
