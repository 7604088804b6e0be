import { SUMMARY_FIELD } from "../../src/stores/steps/threads/history-summary.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { entryText, slotOf, textOfEntry } from "../../src/stores/engine.ts";
import type { Engine } from "../../src/stores/engine.ts";
import { openLmdbEngine } from "../../src/stores/engines/lmdb/engine.ts";
import { openRedisEngine } from "../../src/stores/engines/redis/open.ts";
import type { RedisOptions } from "../../src/stores/engines/redis/open.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import type { SealingOptions } from "../../src/stores/steps/codec.ts";
import { HEADER, tables } from "../../src/stores/tables.ts";
import { startRedis } from "../support/stores/redis-server.ts";

/** A store in which a test writes past the store's own steps, while nobody has it open. */
export interface PlantableStore {
  open(sealing?: SealingOptions): Promise<Store>;
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
  | {
      part: "snapshot" | "run" | "state" | "catalog" | "message" | "historySummary";
      uid: string;
      text: string;
    }
  | { part: "waiting"; uid: string; nth: number; text: string }
  | { part: "token"; slug: string; tokenHash: string; text: string }
  | { part: "channel"; slug: string; text: string };

/** `waiting`: the first one. */
export type ReadPart = "snapshot" | "run" | "message" | "waiting";

interface Place {
  key: string;
  field: string;
}

const PREPARE = { embedded: plantableFolder, redis: plantableRedis };

export const plantableStores = inject("stores").map((name) => ({ name, prepare: PREPARE[name] }));

async function plantableRedis(): Promise<PlantableStore> {
  const server = await startRedis();
  const options: RedisOptions = { urls: [server.url], durability: "local", log: { warn() {} } };
  return {
    open: (sealing) => openRedisStore({ ...options, clock: systemClock, ...sealing }),
    ...plantsOn(async () => (await openRedisEngine(options)).engine),
    remove: () => server.stop(),
  };
}

async function plantableFolder(): Promise<PlantableStore> {
  const dataDir = await mkdtemp(join(tmpdir(), "chat-agent-"));
  const options = { dataDir, clock: systemClock };
  return {
    open: (sealing) => openEmbeddedStore({ ...options, ...sealing }),
    ...plantsOn(() => openLmdbEngine(options)),
    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}

function plantsOn(open: () => Promise<Engine>): Omit<PlantableStore, "open" | "remove"> {
  async function onEngine<Result>(work: (engine: Engine) => Promise<Result>): Promise<Result> {
    const engine = await open();
    try {
      return await work(engine);
    } finally {
      await engine.close();
    }
  }

  return {
    plant: (plant) =>
      onEngine(async (engine) => {
        const { key, field } = await placeOf(engine, plant);
        const text = plant.part === "message" ? entryText(plant.text.length, plant.text) : plant.text;
        const writes = [{ write: "set" as const, key, fields: [[field, text] as const] }];
        await engine.apply({ slot: slotOf(key), checks: [], writes });
      }),

    read: (part, uid) =>
      onEngine(async (engine) => {
        const { key, field } = await placeOf(engine, { part, uid, nth: 0 });
        const text = await textIn(engine, key, field);
        return part === "message" ? textOfEntry(text) : text;
      }),

    aside: (uid) =>
      onEngine(async (engine) => {
        const [pairs] = await engine.read([{ read: "hash", key: tables.aside.key(uid) }]);
        return Object.fromEntries(pairs);
      }),

    stored: (uid) =>
      onEngine((engine) => {
        const hashes = [tables.header, tables.messages, tables.waiting];
        return engine.read(hashes.map((table) => ({ read: "hash" as const, key: table.key(uid) })));
      }),
  };
}

type Placed =
  | { part: Exclude<ReadPart, "waiting"> | "state" | "catalog" | "historySummary"; uid: string }
  | { part: "waiting"; uid: string; nth: number }
  | { part: "token"; slug: string; tokenHash: string }
  | { part: "channel"; slug: string };

async function placeOf(engine: Engine, placed: Placed): Promise<Place> {
  switch (placed.part) {
    case "token":
      return { key: tables.token.key(placed.slug, placed.tokenHash), field: "snapshot" };
    case "channel":
      return { key: tables.channel.key(placed.slug), field: "json" };
    case "message":
      return { key: tables.messages.key(placed.uid), field: "1" };
    case "waiting": {
      const runs = await textIn(engine, tables.header.key(placed.uid), HEADER.waiting);
      return { key: tables.waiting.key(placed.uid), field: runs.split(" ")[placed.nth] ?? "" };
    }
    case "historySummary":
      return { key: tables.parts.key(placed.uid), field: SUMMARY_FIELD };
    case "run":
    case "snapshot":
    case "state":
    case "catalog":
      return { key: tables.header.key(placed.uid), field: HEADER[placed.part] };
  }
}

async function textIn(engine: Engine, key: string, field: string): Promise<string> {
  const [[text]] = await engine.read([{ read: "fields", key, fields: [field] }]);
  return text ?? "";
}
