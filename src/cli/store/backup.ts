import { statSync } from "node:fs";
import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import { VERSION } from "../../version.ts";
import type { UnreadableRecord } from "../../store.ts";
import { exportStore } from "../../stores/backup/export.ts";
import { writeBackup } from "../../stores/backup/file.ts";
import type { BackupEnd } from "../../stores/backup/file.ts";
import { restoringOf } from "../../stores/backup/restoring.ts";
import type { StoreData } from "../../stores/backup/store-data.ts";
import { printJson } from "../command/print.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import { bytesInWords, countsInWords } from "./numbers.ts";
import { openProgress } from "./progress.ts";
import { withStoreData } from "./with-data.ts";

export function addBackup(store: Command, terminal: Terminal): void {
  store
    .command("backup")
    .description("write everything into one file; each thread is as it was at one moment")
    .argument("<file>", "the file; it comes into being, or is replaced, when it is whole")
    .option("--json", "print JSON")
    .action(async (file: string, options: { json?: boolean }) => {
      await withStoreData(terminal, async (data) => {
        if (await restoringOf(data.engine))
          throw new CannotDo("Cannot back up: a restore into this store has not ended (`store info`)");
        const unreadable: UnreadableRecord[] = [];
        const end = await backUp(terminal, { data, file, unreadable });
        const bytes = statSync(file).size;
        if (options.json) printJson(terminal, { file, bytes, ...end, unreadable: unreadable.map(String) });
        else terminal.out(`Backed up ${countsInWords(end)} into ${file} (${bytesInWords(bytes)})\n`);
        if (unreadable.length === 0) return;
        for (const { message } of unreadable) terminal.err(`${message}\n`);
        throw new CannotDo(
          `Cannot back up ${unreadable.length} of the threads: they cannot be read, and ${file} is without them`,
        );
      });
    });
}

async function backUp(
  terminal: Terminal,
  { data, file, unreadable }: { data: StoreData; file: string; unreadable: UnreadableRecord[] },
): Promise<BackupEnd> {
  const progress = openProgress(terminal, () => systemClock.elapsed());
  try {
    return await data.reading((reader) => {
      const header = { product: VERSION, store: data.engine.kind, takenAtMs: systemClock.now() };
      const records = exportStore(reader, (error) => unreadable.push(error));
      return writeBackup(file, header, records, (counts) => progress.show(() => countsInWords(counts)));
    });
  } finally {
    progress.end();
  }
}
