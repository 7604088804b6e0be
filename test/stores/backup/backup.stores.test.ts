// For src/stores/backup/
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { linesOf, storeJson } from "./copy.ts";
import { fillStore, LONG } from "./fill.ts";
import { openPlace, within } from "./places.ts";
import type { PlaceKind, StorePlace } from "./places.ts";

/** Stores in which the backup is taken, and those through which it goes until it comes back. */
const WAYS: [from: PlaceKind, through: PlaceKind[]][] = inject("stores").includes("redis")
  ? [
      ["redis", ["redis"]],
      ["redis", ["embedded", "redis"]],
      ["embedded", ["redis", "embedded"]],
      ["cluster", ["redis"]],
      ["embedded", ["cluster", "embedded"]],
    ]
  : [["embedded", ["embedded"]]];

const kinds = [...new Set(WAYS.map(([from]) => from))];
const filled = new Map<PlaceKind, StorePlace>();
beforeAll(async () => {
  for (const kind of kinds) {
    const place = await openPlace(kind);
    filled.set(kind, place);
    await within(place, fillStore);
  }
});
afterAll(async () => {
  for (const place of filled.values()) await place.remove();
});

function filledPlace(kind: PlaceKind): StorePlace {
  const place = filled.get(kind);
  if (!place) throw new Error(`Cannot go on: no ${kind} store was filled`);
  return place;
}

const COUNTS = { channels: 2, users: 4, tokens: 3, threads: 6, messages: LONG + 5 };

describe.each(WAYS)("a backup of the %s store, restored into %j", (from, through) => {
  test("is everything that was stored, as it was stored", async () => {
    const folder = temporaryFolder();
    let last = filledPlace(from);
    const before = withoutBrief(await last.contents());
    const passed: StorePlace[] = [];
    try {
      for (const [nth, kind] of through.entries()) {
        const file = join(folder, `backup-${nth}`);
        expect(await storeJson(last.env, "backup", file)).toMatchObject(COUNTS);
        expect(statSync(file).mode & 0o777).toBe(0o600);
        expect(existsSync(`${file}.partial`)).toBe(false);
        last = await openPlace(kind);
        passed.push(last);
        expect(await storeJson(last.env, "restore", file)).toMatchObject(COUNTS);
        expect(await storeJson(last.env, "info")).toMatchObject({ ...COUNTS, restoring: null });
      }
      expect(withoutBrief(await last.contents())).toEqual(before);
    } finally {
      for (const place of passed) await place.remove();
    }
  });
});

/** Without what is kept for two days: whom merged users became, and the tokens that caps count. */
function withoutBrief(contents: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(contents).filter(([key]) => !/^[wy]:/.test(key)));
}

test("a backup is lines of JSON, the first says what it is, the last what it must hold", async () => {
  const file = join(temporaryFolder(), "backup");
  const [kind] = kinds;
  await storeJson(filledPlace(kind ?? "embedded").env, "backup", file);
  const lines = linesOf(file);
  expect(lines[0]).toMatchObject({ type: "backup", version: 3, store: kind === "embedded" ? kind : "redis" });
  expect(lines.at(-1)).toMatchObject({ type: "end", ...COUNTS, records: lines.length - 2 });
});
