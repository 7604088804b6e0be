import { resolve } from "node:path";
import type { DemoKeys } from "../installation/default-channels.ts";
import type { Secret } from "../secret.ts";

/**
 * What a start prints for people: addresses, generated keys, and one line to paste. It goes to stderr, because stdout is
 * the log's, and the log carries no key (P15).
 */
export interface Greeting {
  url: string;
  demoUrl: string | null;
  /** True if the demo is off only because other machines can reach HOST. */
  isDemoHeldBack: boolean;
  /** null: CONSOLE=off. */
  console: ConsoleGreeting | null;
  model: "openai" | "demo";
  /** The models for channels that name none, as PROVIDER/MODEL. */
  answers: readonly string[];
  /** null: the key was configured, and is not printed. */
  generatedKey: Secret | null;
  /** True: HARNESS_API_KEY has more than one. */
  hasSeveralKeys: boolean;
  /** The demo channel's keys; null without the demo. */
  demoKeys: DemoKeys | null;
  /** The channel of the line to paste; null if there is none yet. */
  channel: string | null;
  /** The file with the keys, where stderr is no terminal: no secret is printed then. null: secrets are printed. */
  keysFile: string | null;
}

export interface ConsoleGreeting {
  url: string;
  /** The key of the start's own operator; null: configured operators have their own. */
  key: Secret | null;
}

const UNKNOWN_SECRET =
  "(secret: told where the channel was made; `npx chat-agent channels rotate-keys demo` makes new keys)";

export function greetingText(greeting: Greeting): string {
  const { url, demoUrl, isDemoHeldBack, model, answers, demoKeys, channel, keysFile } = greeting;
  const { generatedKey } = greeting;
  const printedKey = keysFile === null ? generatedKey : null;
  const demoSecret = demoKeys?.secretKey?.reveal() ?? null;
  const lines = [
    ["Chat agent", url],
    ...(demoUrl === null ? [] : [["Demo page", demoUrl]]),
    ...(isDemoHeldBack ? [["Demo page", "off, as others reach HOST; DEMO=on shows it to them"]] : []),
    ...consoleLines(greeting.console, keysFile),
    ["API reference", `${url}/swagger`],
    [
      "Model",
      model === "demo" ? "the offline demo; set OPENAI_API_KEY for a real one" : answers.join(", then "),
    ],
    ...(printedKey === null ? [] : [["Transport key", printedKey.reveal()]]),
    ...(keysFile === null || (generatedKey ?? demoKeys) === null
      ? []
      : [["Keys", `in ${keysFile}, printed on a terminal alone`]]),
    ...(demoKeys === null
      ? []
      : [
          ["Demo channel", `${demoKeys.publishableKey} (publishable)`],
          ...demoSecretLines(demoSecret, keysFile),
        ]),
  ].map(([name = "", value = ""]) => `  ${name.padEnd(14)}${value}`);
  const paste =
    channel === null ? [] : ["", `${pasteThis(generatedKey)}:`, "", lineToPaste({ ...greeting, channel })];
  return ["", ...lines, ...paste, "", ""].join("\n");
}

/** One that is not known is in no file either. */
function demoSecretLines(secret: string | null, keysFile: string | null): string[][] {
  if (secret === null) return [["", UNKNOWN_SECRET]];
  return keysFile === null ? [["", `${secret} (secret)`]] : [];
}

/** The key follows the `#`, which browsers send to no server. */
function consoleLines(console: ConsoleGreeting | null, keysFile: string | null): string[][] {
  if (console === null) return [];
  const { url, key } = console;
  if (key === null) return [["Console", url]];
  if (keysFile === null) return [["Console", `${url}#key=${key.reveal()}`]];
  return [
    ["Console", url],
    ["", `(its key is localOperator in ${keysFile})`],
  ];
}

function pasteThis(key: Secret | null): string {
  if (key !== null) return "Paste this to talk to it";
  return "Paste this to talk to it, in a shell with HARNESS_API_KEY set to the same key";
}

function lineToPaste({
  url,
  generatedKey,
  hasSeveralKeys,
  channel,
  keysFile,
}: Pick<Greeting, "url" | "generatedKey" | "hasSeveralKeys" | "keysFile"> & { channel: string }): string {
  if (generatedKey !== null) {
    const key = keysFile === null ? generatedKey.reveal() : keyFrom(keysFile);
    return curlLine(url, `"authorization: Bearer ${key}"`, channel);
  }
  // A configured key is not printed; a shell without the variable reports that, instead of sending no key.
  const fromShell = "${HARNESS_API_KEY:?is not set in this shell}";
  if (!hasSeveralKeys) return curlLine(url, `"authorization: Bearer ${fromShell}"`, channel);
  // The first key alone: all of them together are not a key.
  return `: "${fromShell}"; ${curlLine(url, '"authorization: Bearer ${HARNESS_API_KEY%% *}"', channel)}`;
}

/** The transport key of the file, read by the shell that the line is pasted into. */
function keyFrom(keysFile: string): string {
  const path = `'${resolve(keysFile).replaceAll("'", String.raw`'\''`)}'`;
  return `$(node -p 'require(process.argv[1]).harnessApiKey' ${path})`;
}

function curlLine(url: string, authorization: string, channel: string): string {
  const body = JSON.stringify({
    ...(channel === "cli" ? {} : { channel }),
    threadId: "t1",
    userId: "me",
    text: "Hello, what can you do?",
  });
  return `curl -N ${url}/v1/messages -H ${authorization} -H 'content-type: application/json' -d '${body}'`;
}
