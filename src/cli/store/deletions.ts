import type { Command } from "commander";
import { writeDeletions } from "../../stores/backup/deletions.ts";
import { deletionsOf } from "../../stores/backup/read-store.ts";
import { printJson } from "../command/print.ts";
import type { Terminal } from "../command/terminal.ts";
import { withStoreData } from "./with-data.ts";

export function addDeletions(store: Command, terminal: Terminal): void {
  store
    .command("deletions")
    .description("write down what was deleted, by id, for `store restore --deletions` of a backup of before")
    .argument("<file>", "the file; it comes into being, or is replaced, when it is whole")
    .option("--json", "print JSON")
    .action(async (file: string, options: { json?: boolean }) => {
      await withStoreData(terminal, async (data) => {
        const deletions = await data.reading((reader) => writeDeletions(file, deletionsOf(reader)));
        if (options.json) printJson(terminal, { file, deletions });
        else terminal.out(`Wrote ${deletions} deletions into ${file}\n`);
      });
    });
}
