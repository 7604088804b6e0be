import type { Command } from "commander";
import type { Terminal } from "../command/terminal.ts";
import { addBackup } from "./backup.ts";
import { addCheck } from "./check.ts";
import { addCompact } from "./compact.ts";
import { addDeletions } from "./deletions.ts";
import { addInfo } from "./info.ts";
import { addRekey } from "./rekey.ts";
import { addRestore } from "./restore.ts";

/** `chat-agent store`: commands for the store as a whole. */
export function addStore(program: Command, terminal: Terminal): void {
  const store = program
    .command("store")
    .description(
      "count, check, back up, restore and compact everything that is stored, beside a running service",
    );
  addInfo(store, terminal);
  addCheck(store, terminal);
  addBackup(store, terminal);
  addRestore(store, terminal);
  addDeletions(store, terminal);
  addRekey(store, terminal);
  addCompact(store, terminal);
}
