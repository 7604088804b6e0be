import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { startRedis } from "../support/redis-server.ts";
import { readEmbedded } from "./embedded-records.ts";
import type { EmbeddedRecord } from "./embedded-records.ts";
import { readGoldens } from "./golden.ts";
import { loadIntoFolder, loadIntoRedis } from "./load-golden.ts";
import { readLines } from "./readable.ts";
import { readRedis } from "./redis-records.ts";
import type { RedisRecord } from "./redis-records.ts";

const goldens = readGoldens().filter(({ store }) => inject("stores").includes(store));
const listed = <Item>(folder: string) => readLines<Item>(join(folder, "records.jsonl"));

describe.each(goldens.filter(({ store }) => store === "redis"))(
  "the records of $version on Redis",
  (golden) => {
    test("are loaded as they are listed, and refused where something is", async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      await loadIntoRedis(golden, [redis.url]);

      const withoutTtl = (records: RedisRecord[]) =>
        records.map(({ ttlMs, ...rest }) => ({ ...rest, expires: ttlMs !== undefined }));
      expect(withoutTtl(await readRedis(redis.url))).toEqual(withoutTtl(listed(golden.folder)));
      await expect(loadIntoRedis(golden, [redis.url])).rejects.toThrow("not empty");
    });
  },
);

describe.each(goldens.filter(({ store }) => store === "embedded"))(
  "the embedded records of $version",
  (golden) => {
    test("are loaded as they are listed, and refused where something is", async () => {
      const folder = mkdtempSync(join(tmpdir(), "chat-agent-records-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      await loadIntoFolder(golden, folder);

      const withoutExpiry = (records: EmbeddedRecord[]) => records.filter(({ key: [kind] }) => kind !== "e");
      expect(withoutExpiry(await readEmbedded(folder))).toEqual(withoutExpiry(listed(golden.folder)));
      expect(JSON.parse(readFileSync(join(folder, "keys.json"), "utf8"))).toMatchObject({
        harnessApiKey: golden.facts.transportKey,
      });
      await expect(loadIntoFolder(golden, folder)).rejects.toThrow("has a store");
    });
  },
);
