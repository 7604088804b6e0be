import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.ts";
import { messageOf } from "../errors.ts";
import { StoreUnavailable } from "../store.ts";
import { channels } from "./channels/commands.ts";
import { addChat } from "./chat/chat.ts";
import { addInit } from "./init/command.ts";
import { addCommand, addFamily } from "./command/command.ts";
import { ips } from "./ips.ts";
import { knowledge } from "./knowledge.ts";
import { machines } from "./machines.ts";
import { addMcp } from "./mcp.ts";
import { messengers } from "./messengers.ts";
import { addModels } from "./models.ts";
import { operators } from "./operators.ts";
import { addReplay } from "./replay/command.ts";
import { addServe, addServeMessengers } from "./serve.ts";
import { stats } from "./stats.ts";
import { addStore } from "./store/commands.ts";
import { CannotDo } from "./command/terminal.ts";
import { shieldIds, takeShieldedIds } from "./shielded-ids.ts";
import type { Terminal } from "./command/terminal.ts";
import { threads } from "./threads.ts";
import { VERSION } from "../version.ts";
import { users } from "./users.ts";
import { webhooks } from "./webhooks.ts";

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
  addFamily(program, terminal, channels);
  addFamily(program, terminal, users);
  addFamily(program, terminal, ips);
  addFamily(program, terminal, threads);
  addFamily(program, terminal, operators);
  addCommand(program, terminal, stats);
  addCommand(program, terminal, machines);
  addMcp(program, terminal);
  addModels(program, terminal);
  addFamily(program, terminal, messengers);
  addServeMessengers(program);
  addFamily(program, terminal, webhooks);
  addFamily(program, terminal, knowledge);
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
