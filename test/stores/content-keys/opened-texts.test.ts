// For src/stores/content-keys/bounded-cache.ts, src/stores/content-keys/opened-texts.ts
import { expect, test } from "vitest";
import { boundedCache } from "../../../src/stores/content-keys/bounded-cache.ts";
import { openedTexts } from "../../../src/stores/content-keys/opened-texts.ts";

const at = (uid: string, number: number, ...keyIds: string[]) => ({ uid, number, keyIds });
const text = (chars: number, stored = "s") => ({ stored, opened: "x".repeat(chars - stored.length) });

test("an opened text is known for the same stored text at the same place", () => {
  const texts = openedTexts(1_000);
  texts.set(at("t1", 1, "shop~u1"), { stored: "abc", opened: "Hello" });
  expect(texts.get("t1", 1, "abc")).toBe("Hello");
  expect(texts.get("t1", 1, "abd")).toBeUndefined();
  expect(texts.get("t1", 2, "abc")).toBeUndefined();
  expect(texts.get("t2", 1, "abc")).toBeUndefined();
  expect([...texts.keysOf("t1"), ...texts.keysOf("t2")]).toEqual(["shop~u1"]);
});

test("opened texts are forgotten with their thread, and with each of the keys that opened them", () => {
  const texts = openedTexts(1_000);
  const known = () => ["t1", "t2", "t3", "t4"].map((uid) => texts.get(uid, 1, "s") !== undefined);
  for (const uid of ["t1", "t2"]) texts.set(at(uid, 1, "shop~u1"), text(10));
  texts.set(at("t3", 1, "shop~u2"), text(10));
  texts.set(at("t4", 1, "shop~u2", "shop~u1"), text(10));
  expect(known()).toEqual([true, true, true, true]);
  texts.forgetThread("t1");
  expect(known()).toEqual([false, true, true, true]);
  texts.forgetKey("shop~u1");
  expect(known()).toEqual([false, false, true, false]);
});

test("opened texts take so much memory at most, whatever was replaced and forgotten", () => {
  const texts = openedTexts(100);
  const isKnown = (uid: string, number = 1) => texts.get(uid, number, "s") !== undefined;
  for (let again = 0; again < 20; again += 1) texts.set(at("a", 1, "k"), text(40));
  texts.set(at("b", 1, "k"), text(60));
  expect([isKnown("a"), isKnown("b")]).toEqual([true, true]);
  texts.set(at("c", 1, "k"), text(40));
  expect([isKnown("a"), isKnown("b"), isKnown("c")]).toEqual([false, true, true]);
  for (let again = 0; again < 20; again += 1) {
    for (const uid of ["b", "c"]) texts.forgetThread(uid);
    texts.set(at("c", 2, "k"), text(100));
  }
  expect([isKnown("b"), isKnown("c", 2)]).toEqual([false, true]);
  texts.set(at("d", 1, "k"), text(101));
  expect([isKnown("c", 2), isKnown("d")]).toEqual([false, false]);
});

test("what is known for a while is gone after it, also if nobody asks for it by name", () => {
  let nowMs = 0;
  const gone: string[] = [];
  const cache = boundedCache<number>({
    most: 3,
    keptMs: 60,
    clock: { elapsed: () => nowMs },
    onGone: (name) => gone.push(name),
  });
  cache.set("a", 1);
  nowMs = 30;
  cache.set("b", 2);
  nowMs = 59;
  expect([cache.get("a"), cache.get("b")]).toEqual([1, 2]);
  nowMs = 60;
  cache.set("c", 3);
  expect(gone).toEqual(["a"]);
  expect([cache.get("a"), cache.get("b")]).toEqual([undefined, 2]);
  cache.set("d", 4);
  cache.set("e", 5);
  expect(gone).toEqual(["a", "b"]);
  cache.delete("c");
  cache.delete("c");
  expect(gone).toEqual(["a", "b", "c"]);
});
