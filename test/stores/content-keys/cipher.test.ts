// For src/stores/content-keys/cipher.ts
import { createSecretKey } from "node:crypto";
import { expect, test } from "vitest";
import { keyIdOf, open, seal } from "../../../src/stores/content-keys/cipher.ts";

const key = createSecretKey(Buffer.alloc(32, 1));
const at = { keyId: "shop~u1", key, place: "t1 message 1" };

test("a sealed text opens by its key, in its place, and says which key that is", () => {
  for (const text of ["", "Grüße 👋 \u2028 \u0000", "x".repeat(100_000)]) {
    const sealed = seal(text, at);
    expect(keyIdOf(sealed)).toBe("shop~u1");
    expect(open(sealed, at)).toBe(text);
  }
  expect(keyIdOf("Hello")).toBeNull();
});

test("the same text is sealed otherwise each time", () => {
  const sealed = Array.from({ length: 2_000 }, () => seal("Hello", at));
  expect(new Set(sealed).size).toBe(sealed.length);
  expect(new Set(sealed.map((text) => text.slice(0, "enc:v1:shop~u1:".length + 16))).size).toBe(
    sealed.length,
  );
});

test("it opens nowhere else, by no other key, and not where a bit of it was changed", () => {
  const sealed = seal("Hello", at);
  expect(() => open(sealed, { ...at, place: "t2 message 1" })).toThrow("unable to authenticate");
  expect(() => open(sealed, { ...at, key: createSecretKey(Buffer.alloc(32, 2)) })).toThrow(
    "unable to authenticate",
  );
  const begins = sealed.length - 44;
  const bytes = Buffer.from(sealed.slice(begins), "base64");
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(() => open(sealed.slice(0, begins) + changed.toString("base64"), at)).toThrow(
      "unable to authenticate",
    );
  }
  expect(() => open("enc:v1:shop~u1:AAAA", at)).toThrow("too short");
});
