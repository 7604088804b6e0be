import type { Command } from "commander";
import { VERSION } from "../../version.ts";
import { printFields, printJson } from "../print.ts";
import type { Terminal } from "../terminal.ts";
import { bytesInWords } from "./numbers.ts";
import { withStoreData } from "./with-data.ts";

export function addInfo(store: Command, terminal: Terminal): void {
  store
    .command("info")
    .description("what the store holds, how large it is, and who works on it")
    .option("--json", "print JSON")
    .action(async (options: { json?: boolean }) => {
      await withStoreData(terminal, async (data) => {
        const { restoring, ...info } = await data.info();
        const all = {
          store: data.kind,
          format: info.format,
          version: VERSION,
          instances: info.instances,
          channels: info.channels,
          users: info.users,
          tokens: info.tokens,
          threads: info.threads,
          messages: info.messages,
          bytes: info.bytes,
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
