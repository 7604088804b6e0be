import { lexer } from "marked";
import type { Token, Tokens } from "marked";
import { chartOf } from "./chart.ts";
import type { Chart } from "./chart.ts";

/** A plot shows only the data of its table: it is drawn from the table's own text, and placed below it. */
interface Plot {
  file: string;
  /** The table is the first one with all of these columns; the first column names what the others measure. */
  columns: [string, ...string[]];
  chart: Omit<Chart, "names" | "series">;
  /** The names of the other columns in the plot. */
  series: string[];
  /** True for the service's values, which are highlighted. */
  isOurs: (name: string, series: string) => boolean;
}

const PLOTS: Plot[] = [
  {
    file: "cpu-per-message.svg",
    columns: ["cell", "CPU ms", "floor CPU ms"],
    series: ["service", "floor"],
    isOurs: (_name, series) => series === "service",
    chart: {
      title: "CPU for one message, service beside floor",
      axis: "CPU of the whole stack, ms",
      scale: "linear",
    },
  },
  {
    file: "memory-per-stream.svg",
    columns: ["waiting streams", "kB per stream"],
    series: ["stream"],
    isOurs: (name) => !name.endsWith("floor"),
    chart: {
      title: "Memory of a stream that waits for its model",
      axis: "RSS of the server's process, kB",
      scale: "linear",
    },
  },
  {
    file: "peers-cpu-per-message.svg",
    columns: ["who", "CPU ms"],
    series: ["message"],
    isOurs: (name) => name === "this service",
    chart: {
      title: "CPU for one message, service beside peers (64 users, burst)",
      axis: "CPU of the whole stack, ms, on a logarithmic scale",
      scale: "log",
    },
  },
];

/** The Markdown with each plot below its table, and the plots' files: the SVG by file name. */
export function withPlots(markdown: string): { markdown: string; files: Map<string, string> } {
  const waiting = new Set(PLOTS);
  const files = new Map<string, string>();
  const parts = lexer(markdown).map((token) => {
    const plot = isTable(token) ? [...waiting].find(({ columns }) => hasColumns(token, columns)) : undefined;
    if (!plot || !isTable(token)) return token.raw;
    waiting.delete(plot);
    files.set(plot.file, chartOf(chartFrom(plot, token)));
    const table = token.raw.trimEnd();
    return `${table}\n\n![${plot.chart.title}](plots/${plot.file})${token.raw.slice(table.length)}`;
  });
  return { markdown: parts.join(""), files };
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === "table";
}

function hasColumns({ header }: Tokens.Table, columns: readonly string[]): boolean {
  return columns.every((name) => header.some(({ text }) => text === name));
}

function chartFrom({ columns, series, isOurs, chart }: Plot, { header, rows }: Tokens.Table): Chart {
  const [nameAt = 0, ...valuesAt] = columns.map((name) => header.findIndex(({ text }) => text === name));
  // A row without numbers is left out of the plot.
  const measured = rows.filter((row) => valuesAt.every((i) => Number.isFinite(numberIn(row[i]?.text))));
  const names = measured.map((row) => plain(row[nameAt]?.text ?? ""));
  return {
    ...chart,
    names,
    series: series.map((name, nth) => ({
      name,
      values: measured.map((row) => numberIn(row[valuesAt[nth] ?? -1]?.text)),
      isOurs: names.map((who) => isOurs(who, name)),
    })),
  };
}

/** The first number of a cell: `1,176`, or the median in `0.840 (0.790–0.912)`. */
function numberIn(cell = ""): number {
  return Number.parseFloat(cell.replaceAll(",", ""));
}

function plain(cell: string): string {
  return cell.replaceAll("*", "");
}
