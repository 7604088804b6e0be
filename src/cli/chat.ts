import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { userInfo } from "node:os";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { addressOf, readConfig } from "../config.ts";
import type { Config } from "../config.ts";
import { readKeysFile } from "../installation/keys-file.ts";
import { Secret } from "../secret.ts";
import { cancelRun, sendMessage } from "./chat-client.ts";
import type { ChatTarget } from "./chat-client.ts";
import { CannotDo, printable } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import type { Line } from "../../machines/line.ts";

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
        userId: options.user ?? userInfo().username,
        threadId: options.thread ?? randomUUID(),
      };
      await converse(terminal, target);
    });
}

function baseAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError("It takes an http:// or https:// address.");
}

/** Sends line after line; a message that failed ends a pipe with exit code 1, and a person may try again. */
async function converse(terminal: Terminal, target: ChatTarget): Promise<void> {
  const person = terminal.interactive && terminal.input.isTTY === true;
  if (person) {
    terminal.err(`Thread ${target.threadId} on ${target.url}. Ctrl-C ends it.\n`);
  }

  const reading = new AbortController();
  let running: AbortController | null = null;
  const stopListening = terminal.onInterrupt(() => {
    reading.abort();
    running?.abort();
  });
  const lines = createInterface({ input: terminal.input, crlfDelay: Infinity, terminal: false });
  const closeInput = () => lines.close();
  reading.signal.addEventListener("abort", closeInput);
  if (person) terminal.out("> ");

  try {
    for await (const text of lines) {
      if (reading.signal.aborted) break;
      if (text.trim() !== "") {
        running = new AbortController();
        const ended = await sendAndShow(terminal, target, text, running.signal);
        running = null;
        if (ended === "stopped") break;
        if (ended === "failed" && !person)
          throw new CannotDo("Cannot go on: the last message was not answered");
      }
      if (person) terminal.out("> ");
    }
  } finally {
    stopListening();
    lines.close();
    if (person) terminal.out("\n");
  }
}

type Ended = "answered" | "failed" | "stopped";

/** One message and its reply. Ctrl-C cancels the run first, so that it does not go on unseen. */
async function sendAndShow(
  terminal: Terminal,
  target: ChatTarget,
  text: string,
  signal: AbortSignal,
): Promise<Ended> {
  const connection = new AbortController();
  const show = createLinePrinter(terminal);
  const cancelled = new Promise<Ended>((resolve) => {
    signal.addEventListener("abort", () => {
      void cancelRun(target).finally(() => resolve("stopped"));
    });
  });
  const answered = sendMessage(target, text, (line) => show.line(line), connection.signal).then(
    (terminalLine): Ended => {
      if (signal.aborted) return "stopped";
      if (terminalLine !== null) return terminalLine.type === "error" ? "failed" : "answered";
      show.note("The connection was cut. The run goes on, and its reply will be in the thread.");
      return "failed";
    },
    (error: unknown): Ended => {
      if (signal.aborted) return "stopped";
      // A person reads what went wrong and may try again; a pipe ends in runProgram.
      if (!(error instanceof CannotDo)) throw error;
      show.note(error.message);
      return "failed";
    },
  );
  const ended = await Promise.race([answered, cancelled]);
  connection.abort();
  show.end();
  return ended;
}

/** Text to stdout as it comes; steps and complaints to stderr, so that a pipe carries the reply alone. */
function createLinePrinter(terminal: Terminal) {
  let open = false;
  const newLine = () => {
    if (open) terminal.out("\n");
    open = false;
  };
  const note = (text: string) => {
    newLine();
    terminal.err(terminal.interactive ? `\u001b[2m${printable(text)}\u001b[22m\n` : `${printable(text)}\n`);
  };
  return {
    note,
    end: newLine,
    line(line: Line) {
      switch (line.type) {
        case "delta":
          terminal.out(terminal.interactive ? printable(line.text) : line.text);
          open = !line.text.endsWith("\n");
          return;
        case "step":
          return note(`[${line.phase}] ${line.id}: ${line.text}`);
        case "tool_call":
          return note(`The agent asks a browser for ${line.tool}, and there is none here.`);
        case "error":
          if (line.code === "interrupted") {
            return note("The service is restarting. The run goes on, and its reply will be in the thread.");
          }
          return note(`${line.message}${line.hint === undefined ? "" : ` (${line.hint})`}`);
        case "done":
          return;
      }
    },
  };
}

function knownKey(config: Config): Secret {
  const key = config.harnessApiKey ?? readKeysFile(config.dataDir)?.harnessApiKey;
  if (key !== undefined) return key;
  throw new CannotDo(
    `Cannot find a key: --key and HARNESS_API_KEY are unset, and ${config.dataDir} has no keys.json yet`,
  );
}
