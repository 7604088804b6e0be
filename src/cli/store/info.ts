import type { Command } from "commander";
import { countsOf } from "../../stores/backup/counts.ts";
import { restoringOf } from "../../stores/backup/restoring.ts";
import { STORE_FORMAT } from "../../stores/format.ts";
import { VERSION } from "../../version.ts";
import { printFields, printJson } from "../command/print.ts";
import type { Terminal } from "../command/terminal.ts";
import { bytesInWords } from "./numbers.ts";
import { withStoreData } from "./with-data.ts";

export function addInfo(store: Command, terminal: Terminal): void {
  store
    .command("info")
    .description("what the store holds, how large it is, and who works on it")
    .option("--json", "print JSON")
    .action(async (options: { json?: boolean }) => {
      await withStoreData(terminal, async (data) => {
        const { engine } = data;
        const restoring = await restoringOf(engine);
        const { channels, users, tokens, threads, messages } = await countsOf(engine);
        const all = {
          store: engine.kind,
          format: STORE_FORMAT,
          version: VERSION,
          instances: await data.instances(),
          channels,
          users,
          tokens,
          threads,
          messages,
          bytes: await data.bytes(),
          // The time of the backup whose restore has not finished.
          restoring: restoring && new Date(restoring.takenAtMs).toISOString(),
        };
        if (options.json) return printJson(terminal, all);
        const { bytes, restoring: since, ...fields } = all;
        printFields(terminal, {
          ...fields,
          size: bytes === null ? null : bytesInWords(bytes),
          ...(since === null
            ? {}
            : { restoring: `the backup of ${since}: it has not ended, restore it again` }),
        });
      });
    });
}
