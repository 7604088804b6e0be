import { newId } from "../../../domain/ids.ts";
import type { DeletionStore } from "../../../store/deletions.ts";
import type { Check, Engine, Write } from "../../engine.ts";
import { tables, USER } from "../../tables.ts";
import { writesOfTellings } from "../channel-outbox.ts";
import { fieldIs } from "../field-is.ts";
import { ownerFrom } from "../orders/owners.ts";
import { untilApplied } from "../until-applied.ts";
import { slotOfChannel, uidFrom } from "../users/user-record.ts";
import { goneThread, unlistingWrites } from "./unlisted.ts";

export function unlistThreadSteps(engine: Engine): Pick<DeletionStore, "unlistThread"> {
  /** What is to be removed from the user whose name the thread has; nothing if it has none. */
  async function ofUser(
    slug: string,
    uid: string,
    owner: string | null,
  ): Promise<{ checks: Check[]; writes: Write[] }> {
    const found = ownerFrom(owner);
    if (!found) return { checks: [], writes: [] };
    const names = tables.names.key(slug, found.userId);
    const user = tables.user.key(slug, found.userId);
    const [[entry = null], [userId = null, threads = null]] = await engine.read([
      { read: "fields", key: names, fields: [found.name] },
      { read: "fields", key: user, fields: [USER.id, USER.threads] },
    ]);
    if (entry === null || userId === null || uidFrom(entry) !== uid) {
      return { checks: [], writes: [] };
    }
    const changed = newId();
    return {
      checks: [
        fieldIs(names, found.name, entry, null),
        fieldIs(user, USER.id, userId),
        fieldIs(user, USER.threads, threads, changed),
      ],
      writes: [
        { write: "set", key: user, fields: [[USER.threads, changed]] },
        { write: "remove", key: names, fields: [found.name] },
      ],
    };
  }

  return {
    unlistThread: async ({ slug, id: uid, atMs }, tells = []) => {
      const owners = tables.owners.key(slug);
      const gone = tables.gone.key(slug);
      await untilApplied(`delete thread ${uid}`, async () => {
        const [[owner = null], [goneAtMs = null]] = await engine.read([
          { read: "fields", key: owners, fields: [uid] },
          { read: "scores", key: gone, members: [goneThread(uid)] },
        ]);
        const { checks, writes } = await ofUser(slug, uid, owner);
        const { type } = await engine.apply({
          slot: slotOfChannel(slug),
          checks: [
            fieldIs(owners, uid, owner),
            { check: "score", key: gone, member: goneThread(uid), is: [goneAtMs, atMs] },
            ...checks,
          ],
          writes: [
            ...(goneAtMs === null ? writesOfTellings(slug, tells) : []),
            { write: "put", key: gone, members: [[goneThread(uid), atMs]], mode: "new" },
            ...writes,
            ...unlistingWrites(slug, [uid], atMs),
          ],
        });
        return type === "failed" ? undefined : type;
      });
    },
  };
}
