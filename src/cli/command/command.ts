import { Argument, Option } from "commander";
import type { Command as Commander } from "commander";
import { operatorApi, Refused } from "./ask.ts";
import type { OperatorApi } from "./ask.ts";
import { printJson } from "./print.ts";
import { CannotDo } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { withOperatorApi } from "./with-store.ts";

/** What a command works with. */
export interface Call<Options = object> {
  api: OperatorApi;
  options: Options & { json?: boolean };
  terminal: Terminal;
  /** Ends the command for incorrect use. */
  misuse: (why: string) => never;
}

/** A method, so that what is gathered before may have its own type. */
type Parse = { parse(text: string, before: unknown): unknown }["parse"];
type Parameter = readonly [flags: string, is: string, parse?: Parse];

/** A command: what it takes, what it asks the operator API, and how the answer is printed. */
export interface Command<Options = object, Found = unknown> {
  name: string;
  does: string;
  takes?: readonly Parameter[];
  options?: readonly (Parameter | Option)[];
  /** What `--json` prints. */
  json?: string;
  asks(call: Call<Options>, ...given: string[]): Promise<Found> | Found;
  /** Without it the answer is printed as JSON. */
  prints?(found: Found, call: Call<Options>, ...given: string[]): Promise<void> | void;
  /** The sentence for a refusal, if it is one of this command alone. */
  refused?(refused: Refused, call: Call<Options>, ...given: string[]): string | undefined;
}

/** Lets the compiler find what is asked and printed. */
export function command<Options, Found>(one: Command<Options, Found>): Command {
  return one as Command;
}

/** Commands with a first word of their own. */
export interface Family {
  name: string;
  does: string;
  commands: readonly Command[];
}

export function addFamily(program: Commander, terminal: Terminal, { name, does, commands }: Family): void {
  const family = program.command(name).description(does);
  for (const one of commands) addCommand(family, terminal, one);
}

export function addCommand(family: Commander, terminal: Terminal, one: Command): void {
  const added = family.command(one.name).description(one.does);
  for (const [flags, is, parse] of one.takes ?? []) {
    added.addArgument(parse ? new Argument(flags, is).argParser<unknown>(parse) : new Argument(flags, is));
  }
  for (const option of one.options ?? []) added.addOption(optionOf(option));
  if (one.json !== undefined) added.option("--json", one.json);
  added.action(async () => {
    const given: string[] = added.processedArgs;
    const options = added.opts();
    const misuse = (why: string) => added.error(`error: ${why}`);
    await withOperatorApi(terminal, async (ask) => {
      const call = { api: operatorApi(ask), options, terminal, misuse };
      try {
        const found = await one.asks(call, ...given);
        if (one.prints) await one.prints(found, call, ...given);
        else printJson(terminal, found);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const named = Object.fromEntries(
          added.registeredArguments.map((each, nth) => [each.name(), given[nth]]),
        );
        throw new CannotDo(
          one.refused?.(error, call, ...given) ?? sentenceOf(error, { ...options, ...named }),
        );
      }
    });
  });
}

function optionOf(option: Parameter | Option): Option {
  if (option instanceof Option) return option;
  const [flags, is, parse] = option;
  return parse ? new Option(flags, is).argParser<unknown>(parse) : new Option(flags, is);
}

/** What is missing, by the names that the command was given. */
function sentenceOf({ message }: Refused, given: Record<string, string | undefined>): string {
  const { name, slug = given["channel"] ?? name, user, id = given["thread"] } = given;
  const channel = `Cannot find channel ${slug}: there is none of that slug`;
  switch (message) {
    case "Unknown channel":
      return channel;
    case "Unknown user":
      return `Cannot find user ${user}: channel ${slug} has none of that id`;
    case "Unknown thread":
      return `Cannot find thread ${id}: channel ${slug} has none of that id`;
    case "Unknown operator":
      return `Cannot find operator ${name}: there is none of that name`;
    default:
      return message.startsWith("Cannot ") ? message : `Cannot go on: ${message}`;
  }
}
