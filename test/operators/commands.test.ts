// For src/operators/, src/cli/, src/http/operator-api/
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { startService } from "../http/service.ts";
import { openTestTerminal } from "../support/terminal.ts";

const README = readFileSync(new URL("../../src/operators/README.md", import.meta.url), "utf8");

interface Row {
  commands: string[];
  endpoints: string[];
}

/** The table of commands and their endpoints, as operators read it. */
function rowsOfTable(): Row[] {
  const section = README.split("## Commands and endpoints\n")[1]?.split("\n## ")[0] ?? "";
  const codes = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => {
      const [, commands = "", endpoint = ""] = line.split("|");
      return { commands: codes(commands), endpoints: codes(endpoint) };
    });
}

function leavesOf(command: Command, above: string[] = []): string[] {
  if (command.commands.length === 0) return [above.join(" ")];
  return command.commands.flatMap((one) => leavesOf(one, [...above, one.name()]));
}

test("every command is in the table of commands and endpoints, once", () => {
  const told = rowsOfTable().flatMap(({ commands }) => commands);
  expect(told.toSorted()).toEqual(leavesOf(createProgram(openTestTerminal({}))).toSorted());
});

test("every endpoint of the table is there", async () => {
  const { routes } = await startService();
  const known = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  const told = rowsOfTable().flatMap(({ endpoints }) => endpoints);
  expect(told.length).toBeGreaterThan(20);
  expect(told.filter((one) => !known.has(one.replace(" /", " /v1/operator/")))).toEqual([]);
});
