import { parseArgs } from "node:util";
import type { Listener } from "../../src/listener.ts";
import { CannotMeasure } from "./cannot-measure.ts";
import type { StackKind } from "./stack.ts";

/** The options of a benchmark; ../questions.ts says which question takes which. */
export interface Options {
  /** The arguments that are not options: names of questions or peers. */
  names: string[];
  /** Each option as written, to pass it on. */
  given: { option: string; written: string }[];
  help: boolean;
  write: boolean;
  /** undefined, like every option that was not given: the question has its own default. */
  listener: Listener["kind"] | undefined;
  cell: string | undefined;
  threads: number | undefined;
  seconds: number | undefined;
  repeats: number | undefined;
  most: number | undefined;
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
  seconds: { type: "string" },
  repeats: { type: "string" },
  most: { type: "string" },
  checkout: { type: "string" },
  set: { type: "string", multiple: true },
  store: { type: "string", multiple: true },
} as const;

/** Command line → options. Throws CannotMeasure with a sentence for an unknown option or a value out of range. */
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
    seconds: countIn("seconds", values.seconds),
    repeats: countIn("repeats", values.repeats),
    most: ratioIn("most", values.most),
    checkout: values.checkout,
    set: (values.set ?? []).map(settingIn),
    stores: (values.store ?? []).map((store) => oneOf("store", store, ["redis", "embedded"])),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, tokens: true });
  } catch (error) {
    // Node's own sentence, without its advice about names that begin with a dash.
    const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split(". ");
    throw wrongUse(sentence);
  }
}

function written({ name, value }: { name: string; value: string | undefined }): string {
  return value === undefined ? `--${name}` : `--${name}=${value}`;
}

/** An error for something that does not exist, with a hint at --help. */
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

function ratioIn(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,3}(\.\d{1,3})?$/.test(value))
    throw wrongUse(`Cannot take --${option}=${value}: it is a ratio such as 1.03`);
  return Number(value);
}

function settingIn(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw wrongUse(`Cannot set ${text}: write --set=NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}
