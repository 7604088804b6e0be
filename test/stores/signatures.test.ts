import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { library } from "../../src/stores/redis/functions.ts";
import { changing, reading } from "../../src/stores/redis/signatures.ts";

/** The library as it is written: what each registered function calls its keys and arguments. */
const folder = fileURLToPath(new URL("../../src/stores/redis/functions/", import.meta.url));
const files = readdirSync(folder);
const bodies = new Map(
  [...library.matchAll(/^local function (\w+)\(keys, args\)\n(.*?)^end$/gms)].map((match) => [
    match[1] ?? "",
    match[2] ?? "",
  ]),
);
const registered = new Map(
  [...library.matchAll(/^register\('(\w+)', (\w+)(?:, (\w+))?\)$/gm)].map((match) => [
    match[1] ?? "",
    { body: match[2] ?? "", reads: match[3] === "READS" },
  ]),
);

/** The names on the left of `= unpack(keys)` or `= unpack(args)`. */
function unpacked(name: string, from: "keys" | "args"): string[] {
  const names = new RegExp(`local ([\\w,\\s]+) = unpack\\(${from}\\)`).exec(bodies.get(name) ?? "")?.[1];
  return names?.split(",").map((one) => one.trim()) ?? [];
}

const inLua = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe("the function library and its signatures", () => {
  it("joins every file of the folder", () => {
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect(library).toContain(readFileSync(`${folder}${file}`, "utf8"));
  });

  it("have the same functions, and agree on which only read", () => {
    const isReading = [...registered].map(([name, { body, reads }]) => {
      expect(body).toBe(name);
      return [name, reads];
    });
    const listed = [
      ...Object.keys(changing).map((name) => [name, false]),
      ...Object.keys(reading).map((name) => [name, true]),
    ];
    expect(Object.fromEntries(isReading)).toEqual(Object.fromEntries(listed));
  });

  it.each(Object.entries({ ...changing, ...reading }))(
    "call the keys and arguments of %s by the same names, in the same order",
    (name, { keys, args }) => {
      expect(unpacked(name, "keys")).toEqual(keys.map(inLua));
      expect(unpacked(name, "args")).toEqual(args.map(inLua));
    },
  );
});
