// For src/public-lookup.ts
import type { LookupAddress } from "node:dns";
import { describe, expect, test } from "vitest";
import { mustBePublic, publicLookup, sharedLookup } from "../src/public-lookup.ts";

describe("an address in a URL", () => {
  test.each([
    "http://127.0.0.1/",
    "http://10.0.0.1:8080/a",
    "http://[::1]/",
    "http://0x7f.1/",
    "https://169.254.169.254/",
  ])("%s is not public", (url) => {
    expect(() => mustBePublic(url)).toThrow("its address is not public");
  });

  test.each([
    "https://9.9.9.9/",
    "https://[2606:4700::1111]/",
    "https://localhost/",
    "https://shop.example/",
  ])("%s is public, or a name that is looked up", (url) => {
    expect(() => mustBePublic(url)).not.toThrow();
  });
});

const v4 = (address: string): LookupAddress => ({ address, family: 4 });

function look(found: LookupAddress[] | Error, options: { all?: boolean; allowsPrivate?: boolean } = {}) {
  const { all = false, allowsPrivate = false } = options;
  const lookup = publicLookup({
    allowsPrivate,
    lookup: (_host, _options, callback) =>
      found instanceof Error ? callback(found, []) : callback(null, found),
  });
  return new Promise<unknown>((resolve, reject) => {
    lookup("shop.example", { all }, (error, address, family) => {
      if (error) reject(error);
      else resolve(all ? address : [address, family]);
    });
  });
}

describe("the lookup of a connection", () => {
  test("finds what is public of a name's addresses, the first one or all", async () => {
    const found = [v4("10.0.0.1"), v4("9.9.9.9"), v4("1.1.1.1")];
    expect(await look(found)).toEqual(["9.9.9.9", 4]);
    expect(await look(found, { all: true })).toEqual([v4("9.9.9.9"), v4("1.1.1.1")]);
    expect(await look(found, { all: true, allowsPrivate: true })).toEqual(found);
  });

  test("fails where none is, or where the name leads nowhere", async () => {
    await expect(look([v4("127.0.0.1")])).rejects.toThrow("its address is not public");
    await expect(look([])).rejects.toThrow("its address is not public");
    await expect(look(new Error("ENOTFOUND"))).rejects.toThrow("ENOTFOUND");
  });

  test("is made once for all who ask for a name at a time, and again for who comes later", () => {
    const waiting: (() => void)[] = [];
    const shared = sharedLookup(
      (_host, _options, callback) => void waiting.push(() => callback(null, [v4("9.9.9.9")])),
    );
    const told: string[] = [];
    const ask = (name: string, host: string) =>
      shared(host, {}, (_error, found) => void told.push(`${name} ${found.length}`));
    ask("a", "one");
    ask("b", "one");
    ask("c", "two");
    expect(waiting).toHaveLength(2);
    for (const answer of waiting.splice(0)) answer();
    expect(told).toEqual(["a 1", "b 1", "c 1"]);
    ask("d", "one");
    expect(waiting).toHaveLength(1);
  });
});
