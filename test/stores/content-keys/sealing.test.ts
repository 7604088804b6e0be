// For src/stores/content-keys/sealed-records.ts, src/stores/sealing.ts
import { expect, test } from "vitest";
import { LockedRecord, StoreUnavailable, UnreadableRecord } from "../../../src/store.ts";
import { createCodec } from "../../../src/stores/sealing.ts";
import type { Codec } from "../../../src/stores/sealing.ts";
import type { Seal } from "../../../src/stores/content-keys/sealed-records.ts";
import { keysInMemory, testWrapping } from "../../support/stores/content-keys.ts";

const thread = { uid: "t1", slug: "shop", userId: "u1" };

function opened({ wrapping = testWrapping(), contentKeys = keysInMemory() } = {}) {
  let elapsedMs = 0;
  const gone = { keys: false, thread: false };
  const codec = createCodec({
    wrapping,
    clock: { elapsed: () => elapsedMs },
    owners: {
      contentKeys: {
        ...contentKeys,
        keys: async (...user) => (gone.keys ? null : contentKeys.keys(...user)),
        add: async (key) => (gone.keys ? null : contentKeys.add(key)),
      },
      ownerOf: async () => null,
    },
    isDeleted: async () => gone.thread,
  });
  return { codec, contentKeys, gone, elapse: (ms: number) => void (elapsedMs += ms) };
}

async function sealOf(codec: Codec): Promise<Seal> {
  const seal = await codec.sealOf(thread);
  if (!seal) throw new Error("Cannot test: nothing is encrypted");
  return seal;
}

const read = (codec: Codec, sealed: string) =>
  Promise.resolve().then(() => codec.read("t1", (open) => open(sealed, "message", "1")));

const changed = (sealed: string) =>
  `${sealed.slice(0, -30)}${sealed.at(-30) === "A" ? "B" : "A"}${sealed.slice(-29)}`;

test("without keys nothing is sealed, and neither a write nor a read makes a promise", () => {
  const { codec } = opened({ wrapping: testWrapping([], false) });
  expect(codec.seals).toBe(false);
  expect(codec.sealOf(thread)).toBeNull();
  expect(codec.read("t1", () => "plain")).toBe("plain");
});

test("with keys a promise is made only where a key has to be fetched", async () => {
  const { codec, contentKeys } = opened();
  expect(codec.sealOf(thread)).toBeInstanceOf(Promise);
  const sealed = (await sealOf(codec))("Hello", "waiting", "r1");
  expect(codec.sealOf(thread)).toBeTypeOf("function");
  expect(codec.read("t1", (open) => open(sealed, "waiting", "r1"))).toBe("Hello");
  const other = opened({ contentKeys });
  const reading = other.codec.read("t1", (open) => open(sealed, "waiting", "r1"));
  expect(reading).toBeInstanceOf(Promise);
  expect(await reading).toBe("Hello");
});

test("what was opened is known no longer than its key, and not where the store has another text by now", async () => {
  const { codec, gone, elapse } = opened();
  const sealed = (await sealOf(codec))("Hello", "message", "1");
  const asKnown = () => codec.read("t1", (_, known) => known.get(1, sealed));
  await codec.read("t1", (open, known) =>
    known.set(1, { stored: sealed, opened: open(sealed, "message", "1") }),
  );
  expect(asKnown()).toBe("Hello");
  expect(codec.read("t1", (_, known) => known.get(1, changed(sealed)))).toBeUndefined();
  await expect(read(codec, changed(sealed))).rejects.toThrow(UnreadableRecord);
  gone.keys = true;
  expect(await read(codec, sealed)).toBe("Hello");
  elapse(60_000);
  expect(asKnown()).toBeUndefined();
  await expect(read(codec, sealed)).rejects.toThrow("the key of its user is gone");
});

test("a user who was deleted here is forgotten at once", async () => {
  const { codec, gone } = opened();
  const sealed = (await sealOf(codec))("Hello", "message", "1");
  gone.keys = true;
  codec.forgetUser("shop", "u1");
  codec.forgetThread("t1");
  await expect(read(codec, sealed)).rejects.toThrow(LockedRecord);
  await expect(codec.sealOf(thread)).rejects.toThrow(StoreUnavailable);
  gone.thread = true;
  expect(await codec.sealOf(thread)).toBeNull();
});
