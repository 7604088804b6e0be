import { tableLines } from "./print.ts";
import type { Cell } from "./print.ts";
import type { Terminal } from "./terminal.ts";

/** Prints a list like printJson, but without having all of it in memory. */
export async function printJsonPages<Item>(
  terminal: Terminal,
  pages: AsyncIterable<readonly Item[]>,
  viewOf: (item: Item) => unknown,
): Promise<void> {
  let isFirst = true;
  for await (const page of pages) {
    for (const item of page) {
      const text = JSON.stringify(viewOf(item), null, 2).replaceAll("\n", "\n  ");
      terminal.out(`${isFirst ? "[" : ","}\n  ${text}`);
      isFirst = false;
    }
  }
  terminal.out(isFirst ? "[]\n" : "\n]\n");
}

/** Prints rows like printTable; the first page decides the widths of the columns. */
export async function printTablePages<Item>(
  terminal: Terminal,
  head: readonly string[],
  pages: AsyncIterable<readonly Item[]>,
  rowOf: (item: Item) => readonly Cell[],
  empty: string,
): Promise<void> {
  let widths: readonly number[] | null = null;
  for await (const page of pages) {
    const rows = page.map(rowOf);
    const table = tableLines(widths === null ? [head, ...rows] : rows, widths ?? []);
    widths ??= table.widths;
    for (const line of table.lines) terminal.out(`${line}\n`);
  }
  if (widths === null) terminal.out(`${empty}\n`);
}
