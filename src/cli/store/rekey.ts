import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import { readConfig } from "../../config.ts";
import { NO_KEYS, openSealedStore } from "../../installation/open-store.ts";
import { rekey } from "../../stores/content-keys/rekey.ts";
import type { Rekeyed } from "../../stores/content-keys/rekey.ts";
import { createWrapping } from "../../stores/content-keys/wrapping.ts";
import { printJson } from "../command/print.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import { atStore } from "../command/with-store.ts";

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
      const wrapping = createWrapping(config.contentKeys ?? NO_KEYS);
      if (wrapping.first === null && forget.length === 0) {
        throw new CannotDo("Cannot rekey: CONTENT_KEYS has no key in front to wrap by");
      }
      if (wrapping.first !== null && forget.includes(wrapping.first)) {
        throw new CannotDo(`Cannot forget ${wrapping.first}: it is the one in front`);
      }
      const done = await atStore(terminal, async ({ log, service }) => {
        const opened = await openSealedStore({ config, clock: systemClock, log, engine: service?.engine });
        try {
          return await rekey(opened, { wrapping, forget });
        } finally {
          await opened.close();
        }
      });
      if (json) printJson(terminal, done);
      else terminal.out(`${inWords(done)}\n`);
      for (const { user, reason } of done.failed) terminal.err(`${user}: ${reason}\n`);
      if (done.failed.length > 0) {
        throw new CannotDo(`Cannot rekey ${done.failed.length} of the keys: they are as they were`);
      }
    });
}

function inWords({ users, rekeyed, asBefore, forgotten, free }: Rekeyed): string {
  const rid = forgotten > 0 ? `, ${forgotten} forgotten` : "";
  const unused = free.length > 0 ? `; nothing needs ${free.join(" and ")} any more` : "";
  return `Rekeyed ${rekeyed} keys of ${users} users, ${asBefore} were as they should be${rid}${unused}`;
}
