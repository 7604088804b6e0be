import type { Command } from "commander";

/**
 * Ids of older versions may begin with "-", and would be taken for options: such an argument gets a mark in front while the
 * command line is parsed. The mark is removed before the command runs.
 */
const MARK = "\u0000";

/** Marks arguments of 22 base64url characters that begin with "-" and are no option of any command. */
export function shieldIds(args: readonly string[], program: Command): string[] {
  const options = new Set(longOptions(program));
  return args.map((arg) => (/^-[\w-]{21}$/.test(arg) && !options.has(arg) ? MARK + arg : arg));
}

/** Removes the marks again, in each command of the program. */
export function takeShieldedIds(program: Command): void {
  program.hook("preAction", (_, command) => {
    command.processedArgs = command.processedArgs.map(unshielded);
    for (const [name, value] of Object.entries(command.opts<Record<string, unknown>>())) {
      if (unshielded(value) !== value) command.setOptionValue(name, unshielded(value));
    }
  });
}

function unshielded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unshielded);
  return typeof value === "string" && value.startsWith(MARK) ? value.slice(MARK.length) : value;
}

function longOptions(command: Command): string[] {
  const own = command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));
  return [...own, ...command.commands.flatMap(longOptions)];
}
