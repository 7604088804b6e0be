import { expect, test } from "vitest";
import { boundedCache } from "../../../src/stores/content-keys/bounded-cache.ts";
import { openedTexts } from "../../../src/stores/content-keys/opened-texts.ts";

const at = (keyId: string, uid: string, nth: number) => ({ keyId, uid, place: `${uid} message ${nth}` });
const text = (chars: number, sealed = "s") => ({ sealed, opened: "x".repeat(chars - sealed.length) });

test("an opened text is known for the same sealed text at the same place, and by the same key", () => {
  const texts = openedTexts(1_000);
  texts.set(at("shop~u1", "t1", 1), { sealed: "abc", opened: "Hello" });
  expect(texts.get(at("shop~u1", "t1", 1), "abc")).toBe("Hello");
  expect(texts.get(at("shop~u1", "t1", 1), "abd")).toBeUndefined();
  expect(texts.get(at("shop~u1", "t1", 2), "abc")).toBeUndefined();
  expect(texts.get(at("shop~u2", "t1", 1), "abc")).toBeUndefined();
});

test("opened texts are forgotten with their thread, and with their key", () => {
  const texts = openedTexts(1_000);
  const places = [at("shop~u1", "t1", 1), at("shop~u1", "t2", 1), at("shop~u2", "t1", 1)];
  const known = () => places.map((place) => texts.get(place, "s") !== undefined);
  for (const place of places) texts.set(place, text(10));
  expect(known()).toEqual([true, true, true]);
  texts.forgetThread("t1");
  expect(known()).toEqual([false, true, false]);
  texts.forgetKey("shop~u1");
  expect(known()).toEqual([false, false, false]);
});

test("opened texts take so much memory at most, whatever was replaced and forgotten", () => {
  const texts = openedTexts(100);
  const isKnown = (keyId: string, nth = 1) => texts.get(at(keyId, "t", nth), "s") !== undefined;
  for (let again = 0; again < 20; again += 1) texts.set(at("a", "t", 1), text(40));
  texts.set(at("b", "t", 1), text(60));
  expect([isKnown("a"), isKnown("b")]).toEqual([true, true]);
  texts.set(at("c", "t", 1), text(40));
  expect([isKnown("a"), isKnown("b"), isKnown("c")]).toEqual([false, true, true]);
  for (let again = 0; again < 20; again += 1) {
    texts.forgetThread("t");
    texts.set(at("c", "t", 2), text(100));
  }
  expect([isKnown("b"), isKnown("c", 2)]).toEqual([false, true]);
  texts.set(at("d", "t", 1), text(101));
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
