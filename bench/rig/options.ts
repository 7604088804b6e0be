import { parseArgs } from "node:util";
import type { Listener } from "../../src/listener.ts";
import { CannotMeasure } from "./cannot-measure.ts";
import type { StackKind } from "./stack.ts";

/** What a benchmark can be asked for; which question takes which option: ../questions.ts. */
export interface Options {
  /** What is not an option: names. */
  names: string[];
  /** Each option as it was given, to be passed on. */
  given: { option: string; written: string }[];
  help: boolean;
  write: boolean;
  /** Undefined, as all that was not given: the question has a value of its own. */
  listener: Listener["kind"] | undefined;
  cell: string | undefined;
  threads: number | undefined;
  walk: boolean;
  seconds: number | undefined;
  repeats: number | undefined;
  checkout: string | undefined;
  set: [name: string, value: string][];
  stores: StackKind["store"][];
}

export const OPTIONS = {
  help: { type: "boolean", short: "h" },
  write: { type: "boolean" },
  listener: { type: "string" },
  cell: { type: "string" },
  threads: { type: "string" },
  walk: { type: "boolean" },
  seconds: { type: "string" },
  repeats: { type: "string" },
  checkout: { type: "string" },
  set: { type: "string", multiple: true },
  store: { type: "string", multiple: true },
} as const;

/** Command line → options. Throws CannotMeasure with a sentence for what is unknown or out of its range. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals, tokens } = parsed(args);
  return {
    names: positionals,
    given: tokens.flatMap((token) =>
      token.kind === "option" ? [{ option: token.name, written: written(token) }] : [],
    ),
    help: values.help ?? false,
    write: values.write ?? false,
    listener: values.listener === undefined ? undefined : oneOf("listener", values.listener, ["uws", "node"]),
    cell: values.cell,
    threads: countIn("threads", values.threads),
    walk: values.walk ?? false,
    seconds: countIn("seconds", values.seconds),
    repeats: countIn("repeats", values.repeats),
    checkout: values.checkout,
    set: (values.set ?? []).map(settingIn),
    stores: (values.store ?? []).map((store) => oneOf("store", store, ["redis", "embedded"])),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, tokens: true });
  } catch (error) {
    // Node's own sentence, up to its advice on how to write a name that begins with a dash.
    const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split(". ");
    throw wrongUse(sentence);
  }
}

function written({ name, value }: { name: string; value: string | undefined }): string {
  return value === undefined ? `--${name}` : `--${name}=${value}`;
}

/** For what a person asked for that is not there: with the way to see what is. */
export function wrongUse(sentence: string): CannotMeasure {
  return new CannotMeasure(`${sentence.replace(/\.$/, "")}. --help lists what can be asked.`, {
    exitCode: 2,
  });
}

function oneOf<const Name extends string>(option: string, value: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === value);
  if (found === undefined) throw wrongUse(`Cannot take --${option}=${value}: it is ${names.join(" or ")}`);
  return found;
}

function countIn(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw wrongUse(`Cannot take --${option}=${value}: it is a number from 1 on`);
  return Number(value);
}

function settingIn(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw wrongUse(`Cannot set ${text}: write --set=NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}
