// For src/stores/steps/threads/files.ts
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createMemoryEngine } from "../engine/memory-engine.ts";
import { folderOfFiles } from "../../../src/stores/files/folder.ts";
import { storeOn } from "../../../src/stores/steps/store.ts";
import type { SealingOptions } from "../../../src/stores/steps/codec.ts";
import { encryptedForAnybody } from "../../support/stores/content-keys.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { sampleChannel, SLUG } from "../samples.ts";

const file = { id: "f1", name: "a.txt", type: "text/plain" as const, bytes: 6, text: "Secret" };
const bytes = Buffer.from("Secret");

async function open(sealing: SealingOptions = {}) {
  const folder = temporaryFolder();
  const time = { ms: Date.now() };
  const clock = { now: () => time.ms, elapsed: () => performance.now() };
  const store = await storeOn(createMemoryEngine(clock), {
    clock,
    log: { warn() {} },
    outside: folderOfFiles(folder),
    ...sealing,
  });
  await store.putChannel(sampleChannel());
  const found = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [`${entry.parentPath}/${entry.name}`] : [],
    );
  const upload = (id = "f1") => store.keepUpload({ uid: "t1", slug: SLUG, file: { ...file, id }, bytes });
  return { store, folder, found, upload, time };
}

describe("files whose bytes are outside the store", () => {
  test.each([
    ["as they are", {}],
    ["encrypted", encryptedForAnybody()],
  ])("wait there, are moved to their thread, and go with it, %s", async (how, sealing) => {
    const { store, folder, found, upload } = await open(sealing);
    await upload();
    const isPlain = readFileSync(found()[0] ?? "", "utf8") === bytes.toString("base64");
    expect(isPlain).toBe(how === "as they are");
    expect(found()).toEqual([expect.stringMatching(new RegExp(`^${folder}/waiting/[0-9a-f]{32}/f1$`))]);
    for (const _ of ["once", "again"])
      expect(await store.takeUploads("t1", ["f1"])).toEqual({
        type: "taken",
        files: [{ ...file, isOutside: true }],
      });
    expect(found()).toEqual([expect.stringMatching(new RegExp(`^${folder}/kept/[0-9a-f]{32}/f1$`))]);
    expect(await store.keptFileBytes("t1", "f1")).toEqual(bytes);
    await upload("f2");
    await store.eraseThread("t1", 9);
    expect(found()).toEqual([]);
    expect(await store.keptFileBytes("t1", "f1")).toBeNull();
  });

  test("are dropped after a day where no message has named them", async () => {
    const { store, found, upload, time } = await open();
    for (const id of ["f1", "f2"]) await upload(id);
    await store.takeUploads("t1", ["f1"]);
    await store.dropOldUploads();
    expect(found()).toHaveLength(2);
    time.ms += 86_400_000 + 60_000;
    await store.dropOldUploads();
    expect(found()).toHaveLength(1);
    expect(await store.takeUploads("t1", ["f2"])).toEqual({ type: "missing", id: "f2" });
    expect(await store.keptFileBytes("t1", "f1")).toEqual(bytes);
  });

  test("are as good as a store that is away where their place is", async () => {
    const { folder } = await open();
    const away = await storeOn(createMemoryEngine({ now: Date.now, elapsed: () => performance.now() }), {
      clock: { now: Date.now, elapsed: () => performance.now() },
      log: { warn() {} },
      // A file stands where the folder should be.
      outside: folderOfFiles(`${folder}/file`),
    });
    writeFileSync(`${folder}/file`, "");
    await expect(away.keepUpload({ uid: "t1", slug: SLUG, file, bytes })).rejects.toThrow(StoreUnavailable);
  });
});
