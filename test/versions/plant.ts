import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openDb } from "../../src/stores/embedded/db.ts";
import type { EmbeddedDb, Key } from "../../src/stores/embedded/db.ts";
import { headerKind } from "../../src/stores/embedded/thread-records.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { channelKey, threadKeys, tokenKey } from "../../src/stores/redis/keys.ts";
import { redisClient } from "../support/redis-client.ts";
import { startRedis } from "../support/redis-server.ts";

/** A store in which a test writes past the store's own steps, while nobody has it open. */
export interface PlantableStore {
  open(): Promise<Store>;
  plant(plant: Plant): Promise<void>;
  /** What is stored of a thread where plant() puts another text. */
  read(part: ReadPart, uid: string): Promise<string>;
  /** What is set aside of a thread, by part and place. */
  aside(uid: string): Promise<Record<string, string>>;
  /** All that is kept of a thread, as it is stored. */
  stored(uid: string): Promise<unknown>;
  remove(): Promise<void>;
}

/** Another text in the place of what is stored; `message` is the first one, `nth` of those that wait. */
export type Plant =
  | { part: "snapshot" | "run" | "state" | "catalog" | "message"; uid: string; text: string }
  | { part: "waiting"; uid: string; nth: number; text: string }
  | { part: "token"; slug: string; tokenHash: string; text: string }
  | { part: "channel"; slug: string; text: string };

/** `waiting`: the first one. */
export type ReadPart = "snapshot" | "run" | "message" | "waiting";

const PREPARE = { embedded: plantableFolder, redis: plantableRedis };

export const plantableStores = inject("stores").map((name) => ({ name, prepare: PREPARE[name] }));

async function plantableRedis(): Promise<PlantableStore> {
  const server = await startRedis();
  const client = await redisClient(server.url).connect();

  async function plant(plant: Plant): Promise<void> {
    if (plant.part === "token") {
      await client.hSet(tokenKey(plant.slug, plant.tokenHash), "snapshot", plant.text);
      return;
    }
    if (plant.part === "channel") {
      await client.hSet(channelKey(plant.slug), "json", plant.text);
      return;
    }
    const { part, uid, text } = plant;
    const { header, messages, queue } = threadKeys(uid);
    if (part === "message") await client.lSet(messages, 0, text);
    else if (part === "waiting") await client.lSet(queue, plant.nth, text);
    else await client.hSet(header, part, text);
  }

  return {
    open: () =>
      openRedisStore({ urls: [server.url], durability: "local", clock: systemClock, log: { warn() {} } }),
    plant,
    async read(part, uid) {
      const { header, messages, queue } = threadKeys(uid);
      if (part === "message") return (await client.lIndex(messages, 0)) ?? "";
      if (part === "waiting") return (await client.lIndex(queue, 0)) ?? "";
      return (await client.hGet(header, part)) ?? "";
    },
    aside: async (uid) => ({ ...(await client.hGetAll(threadKeys(uid).aside)) }),
    async stored(uid) {
      const { header, messages, queue } = threadKeys(uid);
      const lists = [await client.lRange(messages, 0, -1), await client.lRange(queue, 0, -1)];
      return [{ ...(await client.hGetAll(header)) }, lists];
    },
    async remove() {
      client.destroy();
      await server.stop();
    },
  };
}

async function plantableFolder(): Promise<PlantableStore> {
  const dataDir = await mkdtemp(join(tmpdir(), "chat-agent-"));

  async function onDb<Result>(step: (db: EmbeddedDb) => Result): Promise<Result> {
    const db = await openDb(dataDir);
    try {
      return await db.change("plant", () => step(db));
    } finally {
      await db.close();
    }
  }

  const raw = (value: unknown) => value;

  function put(db: EmbeddedDb, key: Key, change: (value: object) => unknown): void {
    const value = db.get(key, raw);
    db.put(key, change(typeof value === "object" && value !== null ? value : {}));
  }

  return {
    open: () => openEmbeddedStore({ dataDir, clock: systemClock }),

    plant: (plant) =>
      onDb((db) => {
        const { part, text } = plant;
        if (part === "token") {
          return put(db, ["v", plant.slug, plant.tokenHash], (token) => ({ ...token, snapshot: text }));
        }
        if (part === "channel") return db.put(["c", plant.slug], parsedOr(text));
        const { uid } = plant;
        if (part === "snapshot" || part === "state") {
          return put(db, ["h", uid], (header) => ({ ...header, [part]: text }));
        }
        const queue = db.get(["h", uid], headerKind.read)?.waiting ?? [];
        const waiting = part === "waiting" ? (queue[plant.nth] ?? "") : "";
        const keys: Record<typeof part, Key> = {
          run: ["r", uid],
          catalog: ["t", uid],
          message: ["m", uid, 1],
          waiting: ["q", uid, waiting],
        };
        db.put(keys[part], parsedOr(text));
      }),

    read: (part, uid) =>
      onDb((db) => {
        const header = db.get(["h", uid], headerKind.read);
        if (part === "snapshot") return header?.snapshot ?? "";
        const keys: Record<typeof part, Key> = {
          run: ["r", uid],
          message: ["m", uid, 1],
          waiting: ["q", uid, header?.waiting[0] ?? ""],
        };
        return JSON.stringify(db.get(keys[part], raw));
      }),

    aside: (uid) =>
      onDb((db) => {
        const entries = [...db.range(["aside", uid], raw)];
        return Object.fromEntries(
          entries.map(({ key, value }) => [`${key[2]}:${key[3] ?? ""}`, String(value)]),
        );
      }),

    stored: (uid) => onDb((db) => ["h", "r", "t", "m", "q"].map((kind) => [...db.range([kind, uid], raw)])),

    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** The embedded store's values are JSON: what is none is kept as a text. */
function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
