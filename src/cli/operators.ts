import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { slugSchema } from "../domain/channel-fields.ts";
import { operatorNameFault } from "../domain/operator-name.ts";
import type { OperatorRole } from "../domain/operator.ts";
import { keptKeys } from "../installation/kept-keys.ts";
import { addOperator, operatorView, removeOperator, rotateOperator } from "../operators/operators.ts";
import type { Secret } from "../secret.ts";
import { asCommandLine } from "./as-command-line.ts";
import { printFields, printJson, printTable } from "./print.ts";
import { CannotDo } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { withStore } from "./with-store.ts";

interface JsonOption {
  json?: boolean;
}

type View = ReturnType<typeof operatorView>;

/** `chat-agent operators`: the people and programs who look after the service, and their keys. */
export function addOperators(program: Command, terminal: Terminal): void {
  const operators = program
    .command("operators")
    .description("list, add and remove who may look after the service");
  addAdd(operators, terminal);
  addList(operators, terminal);
  addRemove(operators, terminal);
  addRotate(operators, terminal);
}

function addAdd(operators: Command, terminal: Terminal): void {
  operators
    .command("add")
    .description("add an operator; prints its key, this once")
    .argument("<name>", "of the person or program", parseName)
    .addOption(
      new Option("--role <role>", "what it may do")
        .choices(["admin", "agent", "auditor"])
        .makeOptionMandatory(),
    )
    .option("--channel <slug>", "limits it to this channel; repeatable", collectSlug)
    .option("--json", "print JSON")
    .action(async (name: string, options: JsonOption & { role: OperatorRole; channel?: string[] }) => {
      await withStore(terminal, async (store) => {
        const operator = { name, role: options.role, channels: options.channel ?? null };
        const added = await addOperator(asCommandLine(store), operator);
        if (added.type === "taken") {
          const { by } = added;
          const why = by === name ? "there is one of that name" : `there is ${by}, which looks like it`;
          throw new CannotDo(`Cannot add operator ${name}: ${why}`);
        }
        if (added.type === "unknown-channel") {
          throw new CannotDo(`Cannot add operator ${name}: there is no channel ${added.slug}`);
        }
        printOperator(terminal, operator, added.key, options);
      });
    });
}

function addList(operators: Command, terminal: Terminal): void {
  operators
    .command("list")
    .description("all operators")
    .option("--json", "print a JSON array")
    .action(async (options: JsonOption) => {
      await withStore(terminal, async (store) => {
        const found = await store.operators(({ message }) => terminal.err(`${message}\n`));
        if (options.json) return printJson(terminal, found.map(operatorView));
        printTable(
          terminal,
          ["NAME", "ROLE", "CHANNELS"],
          found.map(({ name, role, channels }) => [name, role, channels?.join(" ") ?? "all"]),
          "There are no operators yet",
        );
      });
    });
}

function addRemove(operators: Command, terminal: Terminal): void {
  operators
    .command("remove")
    .description("take an operator away; its key ends at once")
    .argument("<name>")
    .action(async (name: string) => {
      await withStore(terminal, async (store) => {
        if (!(await removeOperator(asCommandLine(store), name))) throw unknown(name);
        terminal.out(`Removed operator ${name}\n`);
      });
    });
}

function addRotate(operators: Command, terminal: Terminal): void {
  operators
    .command("rotate")
    .description("make an operator's key anew and print it; the old one ends at once")
    .argument("<name>")
    .option("--json", "print JSON")
    .action(async (name: string, options: JsonOption) => {
      await withStore(terminal, async (store, config) => {
        const rotated = await rotateOperator(asCommandLine(store), name);
        if (rotated === null) throw unknown(name);
        keptKeys(config.dataDir).operator(name, rotated.key);
        printOperator(terminal, operatorView(rotated.operator), rotated.key, options);
      });
    });
}

function printOperator(terminal: Terminal, operator: View, key: Secret, options: JsonOption): void {
  const view = { ...operator, key: key.reveal() };
  if (options.json) printJson(terminal, view);
  else printFields(terminal, { ...view, channels: operator.channels?.join(" ") ?? "all" });
}

function unknown(name: string): CannotDo {
  return new CannotDo(`Cannot find operator ${name}: there is none of that name`);
}

function parseName(text: string): string {
  const fault = operatorNameFault(text);
  if (fault !== null) throw new InvalidArgumentError(`It ${fault}.`);
  return text;
}

function collectSlug(text: string, before: string[] = []): string[] {
  if (!slugSchema.safeParse(text).success) throw new InvalidArgumentError("It takes 1 to 64 of a-z 0-9 - _.");
  return [...new Set([...before, text])];
}
