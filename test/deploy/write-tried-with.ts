/**
 * `npm run tried-with` plays the command of each row of src/deploy/tried-with.md whose program is here, and writes the version
 * and today's date into the rows of those that passed. `--passed COMMAND`, repeated: these have passed already, none is played;
 * `npm test` plays all of vitest's.
 * A row whose version is the same is written again only when it is older than a month.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { PAGE, rowOf, rowsIn, TRIED_WITH } from "./tried-with.ts";
import type { WrittenRow } from "./tried-with.ts";

const MONTH_MS = 30 * 86_400_000;
const { values } = parseArgs({ options: { passed: { type: "string", multiple: true } } });
const today = new Date().toISOString().slice(0, 10);
const page = readFileSync(PAGE, "utf8");
const written = new Map(rowsIn(page).map((row) => [row.what, row]));
const outcomes = new Map((values.passed ?? []).map((command) => [command, true]));

const rows = TRIED_WITH.map((tried): string => {
  const { what, how, command } = tried;
  const before = written.get(what);
  const version = tried.version();
  const row: WrittenRow = { what, version: before?.version ?? "–", date: before?.date ?? "–", how, command };
  if (version === null || !hasPassed(command)) return rowOf(row);
  const isFresh = before?.version === version && Date.parse(today) - Date.parse(before.date) < MONTH_MS;
  return rowOf(isFresh ? row : { ...row, version, date: today });
});

function hasPassed(command: string): boolean {
  const known = outcomes.get(
    command.startsWith("npx vitest ") && outcomes.has("npm test") ? "npm test" : command,
  );
  if (known !== undefined || values.passed !== undefined) return known ?? false;
  console.log(`\n$ ${command}`);
  const passed = spawnSync(command, { shell: true, stdio: "inherit" }).status === 0;
  outcomes.set(command, passed);
  return passed;
}

const head = "| what | version | tried on | what was tried | command |\n|---|---|---|---|---|\n";
const [before = "", rest = ""] = page.split(head);
const after = rest.slice(rest.indexOf("\n\n"));
const next = `${before}${head}${rows.join("\n")}${after}`;
if (next !== page) console.log(`${PAGE} has changed: commit it`);
writeFileSync(PAGE, next);
