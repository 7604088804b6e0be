import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import { readConfig } from "../../config.ts";
import { NO_KEYS, openSealedStore } from "../../installation/open-store.ts";
import { rekey } from "../../stores/content-keys/rekey.ts";
import type { Rekeyed } from "../../stores/content-keys/rekey.ts";
import { createWrapping } from "../../stores/content-keys/wrapping.ts";
import { commandLog } from "../command-log.ts";
import { printJson } from "../print.ts";
import { requireStore } from "../require-store.ts";
import { CannotDo } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";

export function addRekey(store: Command, terminal: Terminal): void {
  store
    .command("rekey")
    .description(
      "wrap the keys of all users by the first key of CONTENT_KEYS, so that the others can be removed",
    )
    .option(
      "--forget <id...>",
      "keys of CONTENT_KEYS that are lost: what they protect can never be read again",
    )
    .option("--json", "print JSON")
    .action(async ({ forget = [], json = false }: { forget?: string[]; json?: boolean }) => {
      const config = readConfig(terminal.env);
      requireStore(config);
      const wrapping = createWrapping(config.contentKeys ?? NO_KEYS);
      if (wrapping.first === null && forget.length === 0) {
        throw new CannotDo("Cannot rekey: CONTENT_KEYS has no key in front to wrap by");
      }
      if (wrapping.first !== null && forget.includes(wrapping.first)) {
        throw new CannotDo(`Cannot forget ${wrapping.first}: it is the one in front`);
      }
      const opened = await openSealedStore({ config, clock: systemClock, log: commandLog(terminal, config) });
      try {
        const done = await rekey(opened, { wrapping, forget });
        if (json) printJson(terminal, done);
        else terminal.out(`${inWords(done)}\n`);
        for (const { user, reason } of done.failed) terminal.err(`${user}: ${reason}\n`);
        if (done.failed.length > 0) {
          throw new CannotDo(`Cannot rekey ${done.failed.length} of the keys: they are as they were`);
        }
      } finally {
        await opened.close();
      }
    });
}

function inWords({ users, rekeyed, asBefore, forgotten, free }: Rekeyed): string {
  const rid = forgotten > 0 ? `, ${forgotten} forgotten` : "";
  const unused = free.length > 0 ? `; nothing needs ${free.join(" and ")} any more` : "";
  return `Rekeyed ${rekeyed} keys of ${users} users, ${asBefore} were as they should be${rid}${unused}`;
}
