import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { addressOf, readConfig } from "../../config.ts";
import type { Config } from "../../config.ts";
import { readKeysFile } from "../../installation/keys-file.ts";
import { Secret } from "../../secret.ts";
import { followThread } from "./chat-feed.ts";
import { cancelRun, sendMessage } from "./chat-client.ts";
import type { ChatTarget } from "./chat-client.ts";
import { readPerson, readPipe } from "./chat-input.ts";
import { createLinePrinter } from "./chat-printer.ts";
import { printable } from "../../client/core/printable.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import type { Line } from "../../../machines/line.ts";

interface ChatOptions {
  thread?: string;
  user?: string;
  url?: string;
  channel: string;
  key?: string;
}

/** `chat-agent chat`: a conversation in the terminal, over the server API. From a pipe, each line is a message. */
export function addChat(program: Command, terminal: Terminal): void {
  program
    .command("chat")
    .description("talk to a running service; from a pipe, each line is a message")
    .option("--thread <id>", "the conversation to go on with (default: a new one)")
    .option("--user <id>", "who talks (default: your account's name)")
    .option("--url <url>", "the service (default: HOST and PORT)", baseAddress)
    .option("--channel <slug>", "the channel", "cli")
    .option("--key <key>", "the transport key (default: HARNESS_API_KEY, or DATA_DIR/keys.json)")
    .action(async (options: ChatOptions) => {
      const config = readConfig(terminal.env);
      const target: ChatTarget = {
        url: options.url ?? addressOf(config),
        key: options.key === undefined ? knownKey(config) : new Secret(options.key),
        channel: options.channel,
        userId: options.user ?? accountName(),
        threadId: options.thread ?? randomUUID(),
      };
      await converse(terminal, target);
    });
}

const NOT_CANCELLED =
  "The service did not confirm the cancel: the run may go on, and its reply will be in the thread.";

/** A container may run under a user id without an account. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new CannotDo("Cannot tell who talks: this account has no name; --user gives one", { cause: error });
  }
}

function baseAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError("It takes an http:// or https:// address.");
}

/** Sends line after line. A failed message ends a pipe with exit code 1; a person may try again. */
async function converse(terminal: Terminal, target: ChatTarget): Promise<void> {
  const person = terminal.interactive && terminal.input.isTTY === true;
  if (person) {
    terminal.err(`Thread ${target.threadId} on ${target.url}. Ctrl-C ends it.\n`);
  }

  const leaving = new AbortController();
  const leave = () => {
    leaving.abort();
    input.close();
  };
  const input = person ? readPerson(terminal, leave) : readPipe(terminal);
  const stopListening = terminal.onInterrupt(leave);
  const following = new AbortController();
  const show = (text: string) => input.show(`\u001b[2m${printable(text)}\u001b[22m`);
  const feed = person ? followThread(target, { show, signal: following.signal }) : null;

  try {
    for (let text = await input.next(); text !== null && !leaving.signal.aborted; text = await input.next()) {
      if (text.trim() === "") continue;
      const clientMessageId = randomUUID();
      feed?.said(clientMessageId);
      const ended = await sendAndShow(terminal, target, { text, clientMessageId }, leaving.signal);
      feed?.wake();
      if (ended === "stopped") break;
      if (ended === "failed" && !person)
        throw new CannotDo("Cannot go on: the last message was not answered");
    }
  } finally {
    stopListening();
    following.abort();
    input.close();
    if (person) terminal.out("\n");
  }
}

type Ended = "answered" | "failed" | "stopped";

/** One message and its reply. Ctrl-C cancels the run before the command exits, so that it does not go on unseen. */
async function sendAndShow(
  terminal: Terminal,
  target: ChatTarget,
  message: { text: string; clientMessageId: string },
  signal: AbortSignal,
): Promise<Ended> {
  const connection = new AbortController();
  const show = createLinePrinter(terminal);
  const stopped = new Promise<Ended>((resolve) => {
    const stop = () =>
      void cancelRun(target).then((isCancelled) => {
        show.note(isCancelled ? "Cancelled." : NOT_CANCELLED);
        resolve("stopped");
      });
    signal.addEventListener("abort", stop, { signal: connection.signal });
  });
  const onLine = (line: Line) => {
    if (!signal.aborted) show.line(line);
  };
  const answered = sendMessage(target, message, onLine, connection.signal).then(
    (terminalLine): Ended | Promise<Ended> => {
      if (signal.aborted) return stopped;
      if (terminalLine !== null) return terminalLine.type === "error" ? "failed" : "answered";
      show.note("The connection was cut. The run goes on, and its reply will be in the thread.");
      return "failed";
    },
    (error: unknown): Ended | Promise<Ended> => {
      if (signal.aborted) return stopped;
      // A person reads the error and may try again; a pipe ends in runProgram.
      if (!(error instanceof CannotDo)) throw error;
      show.note(error.message);
      return "failed";
    },
  );
  const ended = await Promise.race([answered, stopped]);
  connection.abort();
  show.end();
  return ended;
}

function knownKey(config: Config): Secret {
  const key = config.harnessApiKey ?? readKeysFile(config.dataDir)?.harnessApiKey;
  if (key !== undefined) return key;
  throw new CannotDo(
    `Cannot find a key: --key and HARNESS_API_KEY are unset, and ${config.dataDir} has no keys.json yet`,
  );
}
