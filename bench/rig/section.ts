import { writeSync } from "node:fs";

/** The answer of a question's file: one table or more, and which targets were met. */
export interface Section {
  title: string;
  tables: Table[];
  targets: Target[];
}

export interface Table {
  caption: string;
  head: string[];
  rows: string[][];
}

export interface Target {
  says: string;
  measured: string;
  /** null: one side of the comparison could not be measured. */
  met: boolean | null;
}

export function markdownOf({ title, tables, targets }: Section): string {
  const parts = [`### ${title}`];
  for (const { caption, head, rows } of tables) {
    const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
    parts.push(caption, lines.join("\n"));
  }
  if (targets.length > 0) {
    parts.push(
      targets.map(({ says, measured, met }) => `- ${verdictOf(met)}: ${says}: ${measured}`).join("\n"),
    );
  }
  return `${parts.join("\n\n")}\n`;
}

function verdictOf(met: Target["met"]): string {
  if (met === null) return "not measured";
  return met ? "met" : "**missed**";
}

/** Prints a section synchronously, so that it is complete even if the process exits next. */
export function print(section: Section): void {
  writeSync(1, `${markdownOf(section)}\n`);
}

/** Reports progress on stderr. */
export function tell(text: string): void {
  writeSync(2, `${text}\n`);
}
