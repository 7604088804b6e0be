import type { Command } from "commander";
import { messageOf } from "../../errors.ts";
import type { Compaction } from "../../stores/backup/store-data.ts";
import { printJson } from "../command/print.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import { bytesInWords } from "./numbers.ts";
import { withStoreData } from "./with-data.ts";

export function addCompact(store: Command, terminal: Terminal): void {
  store
    .command("compact")
    .description(
      "rid the disk of what was deleted: a new file of the embedded store (stop the service first), a rewrite of Redis' append-only files",
    )
    .option("--json", "print JSON")
    .action(async (options: { json?: boolean }) => {
      await withStoreData(terminal, async (data, config) => {
        const done = await data.compact().catch((error: unknown) => {
          throw new CannotDo(`Cannot compact the store: ${messageOf(error)}`);
        });
        if (options.json) printJson(terminal, done);
        else terminal.out(`${told(done, config.dataDir)}\n`);
      });
    });
}

function told(done: Compaction, dataDir: string): string {
  if (done.kind === "embedded") {
    const [before, after] = [done.bytesBefore, done.bytesAfter].map(bytesInWords);
    return `Compacted the store in ${dataDir}: ${before} before, ${after} now`;
  }
  const { servers, rewritten } = done;
  if (rewritten === 0)
    return "Nothing to rewrite: Redis keeps no append-only file. Its next snapshot has nothing of what was deleted";
  return `Rewrote the append-only file of ${rewritten} of ${servers} primaries; replicas and snapshots have their own`;
}
