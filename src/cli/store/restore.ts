import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import { NOTHING_DELETED, readDeletions } from "../../stores/backup/deletions.ts";
import { restoreBackup, verifyBackup } from "../../stores/backup/restore.ts";
import type { OnProgress } from "../../stores/backup/restore.ts";
import { printJson } from "../command/print.ts";
import type { Terminal } from "../command/terminal.ts";
import { countsInWords } from "./numbers.ts";
import { openProgress } from "./progress.ts";
import { withStoreData } from "./with-data.ts";

const WORDS = { verify: "Reading the backup", restore: "Restoring" };

export function addRestore(store: Command, terminal: Terminal): void {
  store
    .command("restore")
    .description(
      "fill an empty store of any kind from a backup; the file is checked before anything is written",
    )
    .argument("<file>", "what `store backup` wrote")
    .option("--deletions <file>", "what `store deletions` wrote: without what was deleted after the backup")
    .option("--json", "print JSON")
    .action(async (file: string, options: { deletions?: string; json?: boolean }) => {
      const progress = openProgress(terminal, () => systemClock.elapsed());
      const onProgress: OnProgress = ({ action, read, size }) =>
        progress.show(() => `${WORDS[action]}: ${Math.floor((100 * read) / Math.max(size, 1))}%`);
      try {
        // The file first: a bad one must not create a store.
        const backup = await verifyBackup(file, onProgress);
        const { deletions } = options;
        const deleted =
          deletions === undefined ? NOTHING_DELETED : await readDeletions(deletions, backup.header.takenAtMs);
        const restored = await withStoreData(
          terminal,
          (data) => restoreBackup(data.engine, backup, { onProgress, deleted }),
          { mayBeNew: true },
        );
        progress.end();
        const { header, end } = backup;
        const takenAt = new Date(header.takenAtMs).toISOString();
        if (options.json) printJson(terminal, { file, takenAt, from: header.store, ...end, ...restored });
        else terminal.out(`Restored ${countsInWords(restored)}, as they were at ${takenAt}\n`);
      } finally {
        progress.end();
      }
    });
}
