import type { Clock } from "../clock.ts";
import { newId } from "../domain/ids.ts";
import type { Store } from "../store.ts";
import { refuseRestoring } from "./backup/restoring.ts";
import { embeddedChannelThreads } from "./embedded/channel-threads.ts";
import { embeddedChannels } from "./embedded/channels.ts";
import { embeddedContentKeys } from "./embedded/content-keys.ts";
import { embeddedDeletions } from "./embedded/deletions.ts";
import { checkFormat, openDb } from "./embedded/db.ts";
import { embeddedHealth } from "./embedded/health.ts";
import { embeddedRestoring } from "./embedded/import.ts";
import { embeddedIdentity } from "./embedded/identity.ts";
import { embeddedLiveness } from "./embedded/liveness.ts";
import { embeddedOperators } from "./embedded/operators.ts";
import { embeddedOutbox } from "./embedded/outbox.ts";
import { embeddedStats } from "./embedded/stats.ts";
import { threadRecords } from "./embedded/thread-records.ts";
import { embeddedThreadList } from "./embedded/thread-list.ts";
import { embeddedThreads } from "./embedded/threads.ts";
import { userRecords } from "./embedded/user-records.ts";
import { embeddedUsers } from "./embedded/users.ts";

/**
 * The embedded store: lmdb, in one folder, without a server. The command line may open the folder beside the service;
 * `serve` locks it first (data-dir-lock.ts), because the store takes every other holder of a thread for a dead one.
 * Throws if the folder cannot be opened, or has a store of a later format, or one that is half restored.
 */
export async function openEmbeddedStore(options: { dataDir: string; clock: Clock }): Promise<Store> {
  const { dataDir, clock } = options;
  const db = await openDb(dataDir);
  try {
    await checkFormat(db, dataDir);
    refuseRestoring(await embeddedRestoring(db), `in ${dataDir}`);
  } catch (error) {
    await db.close();
    throw error;
  }
  const processId = newId();
  const users = userRecords(db);
  const threads = threadRecords(db);

  return {
    kind: "embedded",
    ...embeddedChannels(db),
    isRestoring: async () => (await embeddedRestoring(db)) !== null,
    ...embeddedUsers(db, users, clock),
    ...embeddedIdentity(db, users, clock),
    ...embeddedThreads(db, threads),
    ...embeddedDeletions(db, { users, threads }),
    ...embeddedThreadList(db, { users, threads }),
    ...embeddedChannelThreads(db, { users, threads }),
    ...embeddedLiveness(db, processId),
    ...embeddedOperators(db),
    ...embeddedStats(db),
    contentKeys: embeddedContentKeys(db, users),
    outbox: embeddedOutbox(db, (uid) => threads.header(uid)?.told ?? 0),

    health: () => embeddedHealth(db, dataDir),

    close: () => db.close(),
  };
}
