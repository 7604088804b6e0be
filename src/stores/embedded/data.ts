import { statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../clock.ts";
import type { StoreData } from "../backup/store-data.ts";
import { refuseLaterFormat } from "../format.ts";
import { compactFile } from "./compact.ts";
import { embeddedSuspicions } from "./check.ts";
import { isServed } from "./data-dir-lock.ts";
import { openDb } from "./db.ts";
import { embeddedFormat, embeddedSource } from "./export.ts";
import { embeddedTarget } from "./import.ts";

/** The embedded store's data; works beside a running service. Throws if they have a later format. */
export async function openEmbeddedData(dataDir: string): Promise<StoreData> {
  const db = await openDb(dataDir);
  try {
    refuseLaterFormat(embeddedFormat(db), `in ${dataDir}`);
  } catch (error) {
    await db.close();
    throw error;
  }
  const target = embeddedTarget(db, dataDir);
  return {
    kind: "embedded",
    source: () => embeddedSource(db),
    target,
    async info() {
      const source = embeddedSource(db);
      try {
        return {
          ...(await source.counts()),
          instances: (await isServed(dataDir)) ? 1 : 0,
          bytes: statSync(join(dataDir, "store", "data.mdb")).size,
          restoring: await target.restoring(),
          format: embeddedFormat(db),
        };
      } finally {
        await source.close();
      }
    },
    suspicions: (onWalked) =>
      embeddedSuspicions(db, {
        source: () => embeddedSource(db),
        nowMs: () => systemClock.now(),
        onWalked,
      }),
    async compact() {
      await db.close();
      return compactFile(dataDir);
    },
    close: () => db.close(),
  };
}
