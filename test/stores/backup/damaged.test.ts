// For src/stores/embedded.ts
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { emptyFolder, temporaryFolder } from "../../support/stores/data-dir.ts";
import { rowsAtLength } from "../../support/lengths.ts";
import { store, storeJson } from "./copy.ts";
import { fillStore } from "./fill.ts";

/** What a restore refuses before it writes anything: it does not even make the store. */
let backup: string;
beforeAll(async () => {
  const DATA_DIR = emptyFolder();
  const filled = await openEmbeddedStore({ dataDir: DATA_DIR, clock: systemClock });
  await fillStore(filled);
  await filled.close();
  backup = join(DATA_DIR, "backup");
  await storeJson({ DATA_DIR }, "backup", backup);
});

async function refusal(change: (file: string) => void): Promise<string> {
  const folder = temporaryFolder();
  const file = join(folder, "changed");
  copyFileSync(backup, file);
  change(file);
  const { code, out, err } = await store({ DATA_DIR: join(folder, "data") }, "restore", file);
  expect({ code, out, lines: err.split("\n").length }).toEqual({ code: 1, out: "", lines: 2 });
  expect(existsSync(join(folder, "data"))).toBe(false);
  return err;
}

/** The file with a bit changed at a byte, or at the next that means something. */
function changedNear(bytes: Buffer, first: number): Buffer {
  for (let at = first; ; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x10;
    if (!saysTheSame(changed, bytes)) return changed;
  }
}

/** A zipped text may point at either of two equal pieces before it. */
function saysTheSame(changed: Buffer, bytes: Buffer): boolean {
  try {
    return gunzipSync(changed).equals(gunzipSync(bytes));
  } catch {
    return false;
  }
}

const DAMAGED = /^Cannot read \S+changed: it is (cut or changed \(.+\)|no backup of a store)\n$/;
const size = () => readFileSync(backup).length;
const places = rowsAtLength(
  Array.from({ length: 40 }, (_, i) => i / 40),
  5,
);

describe("a restore refuses before it writes", () => {
  test.each(places)("a file that is cut after %d of it", async (place) => {
    expect(await refusal((file) => truncateSync(file, Math.floor(size() * place)))).toMatch(DAMAGED);
  });

  test("a file that lacks its last byte, or has one more", async () => {
    expect(await refusal((file) => truncateSync(file, size() - 1))).toMatch(DAMAGED);
    expect(await refusal((file) => writeFileSync(file, "x", { flag: "a" }))).toMatch(DAMAGED);
    expect(await refusal((file) => writeFileSync(file, gzipSync("{}\n"), { flag: "a" }))).toMatch(DAMAGED);
  });

  test.each(places)("a file of which the byte at %d of it is another", async (place) => {
    const complaint = await refusal((file) => {
      const bytes = readFileSync(file);
      // Past the ten bytes of gzip's own head, some of which mean nothing.
      const first = 10 + Math.floor((bytes.length - 10) * place);
      writeFileSync(file, changedNear(bytes, first));
    });
    expect(complaint).toMatch(DAMAGED);
  });

  test.each<[string, (text: string) => string, RegExp]>([
    ["one text is another", (text) => text.replace("text 17", "text 71"), /its checksum does not fit/],
    ["a line is missing", (text) => text.replace(/^.*"ann-two".*\n/m, ""), /its checksum does not fit/],
    ["its end is missing", (text) => text.replace(/^.*"type":"end".*\n/m, ""), /it has no end/],
    ["its counts are others", (text) => text.replace('"users":4', '"users":5'), /its counts do not fit/],
    ["something follows its end", (text) => `${text}{}\n`, /something follows its end/],
    ["a line is no JSON", (text) => text.replace('{"type":"user"', "user"), /cut or changed/],
  ])("a file of which %s, zipped again", async (_, change, complaint) => {
    const text = gunzipSync(readFileSync(backup)).toString();
    const changed = change(text);
    expect(changed).not.toBe(text);
    expect(await refusal((file) => writeFileSync(file, gzipSync(changed)))).toMatch(complaint);
  });

  test.each([
    ["of a later form", /"version":\d+/, '"version":999'],
    ["of a later format of the store", /"format":\d+/, '"format":999'],
  ])("a file %s, in a sentence that says what to do", async (_, from, to) => {
    const text = gunzipSync(readFileSync(backup)).toString().replace(from, to);
    const complaint = await refusal((file) => writeFileSync(file, gzipSync(text)));
    expect(complaint).toMatch(
      /written by a later version of the service \(.+\): restore it with that one\n$/,
    );
  });

  test.each([
    ["nothing", ""],
    ["a text", "Hello\n"],
    ["other zipped JSON", gzipSync('{"type":"other"}\n')],
  ])("%s instead of a backup", async (_, bytes) => {
    expect(await refusal((file) => writeFileSync(file, bytes))).toMatch(/is no backup of a store\n$/);
  });

  test("a file that is not there", async () => {
    const { code, err } = await store({ DATA_DIR: temporaryFolder() }, "restore", "/nowhere/backup");
    expect([code, err]).toEqual([1, expect.stringMatching(/^Cannot .*ENOENT.*\n$/)]);
  });
});
