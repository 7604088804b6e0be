// For src/stores/content-keys/
import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { encrypted } from "../support/stores/content-keys.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { storeJson } from "../stores/backup/copy.ts";

/**
 * A backup that 0.2.0-dev took of a store of format 2, with CONTENT_KEYS: every kind of content is encrypted in it, in the
 * form of then. It is restored without the keys, and opens with them.
 */
const BACKUP = fileURLToPath(new URL("0.2.0-sealed.gz", import.meta.url));
const EVENT = { slug: "shop", endpoint: "e1", uid: "t1", nth: "1" };

async function restored(): Promise<{ store: Store; close: () => Promise<void> }> {
  const dataDir = emptyFolder();
  if (!inject("stores").includes("redis")) {
    await storeJson({ DATA_DIR: dataDir }, "restore", BACKUP);
    const store = await openEmbeddedStore({ dataDir, clock: systemClock, ...encrypted });
    return { store, close: () => store.close() };
  }
  const redis = await startRedis();
  await storeJson({ DATA_DIR: dataDir, REDIS_URL: redis.url }, "restore", BACKUP);
  const store = await openRedisStore({
    urls: [redis.url],
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
    ...encrypted,
  });
  const close = async () => {
    await store.close();
    await redis.stop();
  };
  return { store, close };
}

test("P8: what an earlier version has encrypted opens by its keys, wherever its backup is restored", async () => {
  const { store, close } = await restored();
  try {
    const thread = await store.load("t1", 10_000);
    expect(thread?.snapshot).toContain("a secret of the chart");
    expect(thread?.run).toMatchObject({ runId: "r1", terminal: { message: "The lamp is gone" } });
    expect(thread?.run?.lines).toEqual([{ type: "delta", text: "on Monday" }]);
    expect(await store.history("t1", { limit: 9, before: null })).toMatchObject([
      { id: "1", content: "Where is my red lamp?" },
      { id: "2", content: "on Monday", feedback: { rating: "down", comment: "too late for me" } },
    ]);
    expect(await store.keptText("t1", "r1", 1)).toBe("It left our house ");
    expect(await store.keptImages("t1", "r1")).toEqual(["data:image/png;base64,AAAA"]);
    expect(await store.waitingRuns("t1")).toEqual(["r2"]);
    expect(await store.runs("t1", 9)).toMatchObject([{ terminal: { message: "The lamp is gone" } }]);
    const event = await store.outbox?.event(EVENT);
    expect(event?.type === "told" && JSON.parse(event.text)).toMatchObject({
      data: { text: "Where is my red lamp?" },
    });

    // The ids of messages are known, by the hash of their text.
    const said = { runId: "r9", api: "widget" as const, userId: "u1", saidAtMs: 9 };
    const speaker = { displayName: null, page: null, customerContext: null };
    const again = { ...said, speaker, clientMessageId: "said-once", text: "Where is my red lamp?" };
    const known = { type: "said-before", runId: "r1" };
    expect(await store.wait("t1", again, 3)).toEqual({ ...known, isSameText: true });
    expect(await store.wait("t1", { ...again, text: "x" }, 3)).toEqual({ ...known, isSameText: false });
  } finally {
    await close();
  }
});
