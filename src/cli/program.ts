import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.ts";
import { messageOf } from "../errors.ts";
import { StoreUnavailable } from "../store.ts";
import { addChannels } from "./channels/commands.ts";
import { addChat } from "./chat.ts";
import { addInit } from "./init/command.ts";
import { addFamily } from "./command.ts";
import { ips } from "./ips.ts";
import { addMachines } from "./machines.ts";
import { addMcp } from "./mcp.ts";
import { addModels } from "./models.ts";
import { addOperators } from "./operators.ts";
import { addReplay } from "./replay/command.ts";
import { addServe } from "./serve.ts";
import { addStats } from "./stats.ts";
import { addStore } from "./store/commands.ts";
import { CannotDo } from "./terminal.ts";
import { shieldIds, takeShieldedIds } from "./shielded-ids.ts";
import type { Terminal } from "./terminal.ts";
import { addThreads } from "./threads.ts";
import { VERSION } from "../version.ts";
import { addUsers } from "./users.ts";
import { addWebhooks } from "./webhooks.ts";

/** The `chat-agent` command, a file or folder for each sub-command (contract, Commands). */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("chat-agent")
    .description("Runs the chat agent service, talks to it, and looks after its channels, users and threads.")
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) })
    .showSuggestionAfterError();
  takeShieldedIds(program);
  addServe(program);
  addInit(program, terminal);
  addChat(program, terminal);
  addChannels(program, terminal);
  addUsers(program, terminal);
  addFamily(program, terminal, ips);
  addThreads(program, terminal);
  addOperators(program, terminal);
  addStats(program, terminal);
  addMachines(program, terminal);
  addMcp(program, terminal);
  addModels(program, terminal);
  addWebhooks(program, terminal);
  addReplay(program, terminal);
  addStore(program, terminal);
  return program;
}

/** Runs one command. Returns the exit code: 0; 1 if something cannot be done or does not exist; 2 for incorrect use. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const program = createProgram(terminal);
    await program.parseAsync(shieldIds(args, program), { from: "user" });
    return 0;
  } catch (error) {
    // Commander has already printed the error, or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.err(`${complaintOf(error)}\n`);
    return 1;
  }
}

function complaintOf(error: unknown): string {
  const foreseen =
    error instanceof CannotDo || error instanceof ConfigError || error instanceof StoreUnavailable;
  if (foreseen) return error.message;
  const text = messageOf(error);
  return text.startsWith("Cannot ") ? text : `Cannot go on: ${text}`;
}
