import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { entryText } from "../../../src/stores/engine.ts";
import type { Check, Engine, Pair, Read, Step, Write } from "../../../src/stores/engine.ts";
import { UNUSUAL } from "./random-steps.ts";

export interface EngineUnderTest {
  /** Nothing is stored in it. */
  engine: Engine;
  elapse(ms: number): Promise<void>;
  clean(): Promise<void>;
}

const SLOT = "t:00";
/** An engine may keep hashes that are known to be small in another way than large ones. */
const SMALL = `y:{${SLOT}}:a`;
const LARGE = `large:{${SLOT}}:a`;
const HASHES = [
  ["a small hash", SMALL],
  ["a large hash", LARGE],
] as const;
const SET = `watch:{${SLOT}}:a`;
const SKETCH = `sv:{${SLOT}}:day`;
const ABSENT = `q:{${SLOT}}:absent`;

const bytesOf = (text: string) => Buffer.from(text);
const byBytes = (a: string, b: string) => Buffer.compare(bytesOf(a), bytesOf(b));

/**
 * Holds an engine to what src/stores/engine.ts says, but for what theorem.ts does: that its writes, checks and reads are those of the
 * engine in memory.
 */
export function describeEngine(name: string, open: () => Promise<EngineUnderTest>): void {
  describe(`${name} keeps the engine's contract`, () => {
    let it_: EngineUnderTest;
    let engine: Engine;
    beforeEach(async () => {
      it_ = await open();
      ({ engine } = it_);
    });
    afterEach(() => it_.clean());

    const step = (writes: readonly Write[], more: Partial<Step> = {}): Step => ({
      slot: SLOT,
      checks: [],
      writes,
      ...more,
    });
    const write = (...writes: Write[]) => engine.apply(step(writes));
    const set = (key: string, ...fields: Pair[]) => write({ write: "set", key, fields });
    const put = (key: string, members: [string, number][], mode?: "raise" | "new") =>
      write({ write: "put", key, members, ...(mode ? { mode } : {}) });
    const read = async <const R extends Read>(one: R) => (await engine.read([one]))[0];
    const hash = async (key: string) =>
      (await read({ read: "hash", key })).toSorted(([a], [b]) => byBytes(a, b));
    const range = (key: string) => read({ read: "range", key });
    const exists = (key: string) => read({ read: "exists", key });
    const check = async (one: Check) =>
      (await engine.apply(step([{ write: "set", key: ABSENT, fields: [["f", "1"]] }], { checks: [one] })))
        .type === "done";

    describe.each(HASHES)("%s", (_, key) => {
      it("keeps unusual texts unchanged, as fields and as values", async () => {
        const fields = UNUSUAL.map((text, nth): Pair => [text, UNUSUAL.at(-nth) ?? ""]);
        await set(key, ...fields);
        const sorted = fields.toSorted(([a], [b]) => byBytes(a, b));
        expect(await hash(key)).toEqual(sorted);
        expect(await read({ read: "size", key })).toBe(UNUSUAL.length);
        expect(await read({ read: "fields", key, fields: UNUSUAL })).toEqual(
          fields.map(([, value]) => value),
        );
        expect((await paged(engine.hashPages(key))).toSorted(([a], [b]) => byBytes(a, b))).toEqual(sorted);
        for (const [field, value] of fields) {
          expect([field, await check({ check: "field", key, field, is: [value] })]).toEqual([field, true]);
        }
        await write({ write: "remove", key, fields: UNUSUAL });
        expect(await exists(key)).toBe(false);
      });

      it("keeps a value of a million characters", async () => {
        const value = "ä😀\n".repeat(250_000);
        await set(key, ["f", value], ["g", "1"]);
        expect(await read({ read: "fields", key, fields: ["g", "f"] })).toEqual(["1", value]);
        expect(new Map(await hash(key)).get("f")).toBe(value);
      });
    });

    describe("a sorted set", () => {
      it("keeps its members by score, those with the same score by their bytes", async () => {
        const members: [string, number][] = [
          ["b", 2],
          ["a", 2],
          ["B", 2],
          ["😀", 2],
          ["\uffff", 2],
          ["é", 2],
          ["", 2],
          ["a\0", 2],
          ["10", 2],
          ["9", 2],
          ["x".repeat(250), 2],
          [`${"x".repeat(250)}a`, 2],
          ["last", 10],
          ["first", -3],
        ];
        await put(SET, members);
        const sorted = members.toSorted(([a, x], [b, y]) => x - y || byBytes(a, b));
        expect(await range(SET)).toEqual(sorted);
        expect(await read({ read: "range", key: SET, reverse: true })).toEqual(sorted.toReversed());
        for (const limit of [1, 5, 13, 14, 100]) {
          expect(await read({ read: "range", key: SET, limit })).toEqual(sorted.slice(0, limit));
          expect(await read({ read: "range", key: SET, limit, reverse: true })).toEqual(
            sorted.toReversed().slice(0, limit),
          );
        }
      });

      it("keeps every score that is a number", async () => {
        const scores = [
          0,
          ...[
            0.1,
            0.5,
            1,
            1.5,
            1e-300,
            1e300,
            2 ** 31,
            2 ** 32,
            1_700_000_000_000.25,
            2 ** 53,
            Infinity,
          ].flatMap((score) => [score, -score]),
          1_700_000_000_000_999,
          2 ** 53 - 1,
        ];
        await put(
          SET,
          scores.map((score) => [`m${score}`, score]),
        );
        const sorted = scores.toSorted((a, b) => (a === b ? 0 : a < b ? -1 : 1));
        expect((await range(SET)).map(([, score]) => score)).toEqual(sorted);
        expect(await range(SET)).toEqual(sorted.map((score) => [`m${score}`, score]));
        expect(await read({ read: "scores", key: SET, members: scores.map((score) => `m${score}`) })).toEqual(
          scores,
        );
        for (const from of sorted) {
          const up = sorted.filter((score) => score >= from);
          const down = sorted.filter((score) => score <= from);
          expect((await read({ read: "range", key: SET, from })).map(([, score]) => score)).toEqual(up);
          expect((await read({ read: "range", key: SET, to: from })).map(([, score]) => score)).toEqual(down);
          expect(await read({ read: "number", key: SET, from })).toBe(up.length);
          expect(await read({ read: "number", key: SET, to: from })).toBe(down.length);
          expect(await check({ check: "score", key: SET, member: `m${from}`, is: [from] })).toBe(true);
        }
      });

      it("keeps unusual texts as members", async () => {
        const members = UNUSUAL.map((text, nth): [string, number] => [text, nth]);
        await put(SET, members);
        await put(SET, members);
        expect(await range(SET)).toEqual(members);
        expect(await read({ read: "scores", key: SET, members: UNUSUAL })).toEqual(
          members.map(([, score]) => score),
        );
        expect((await paged(engine.memberPages(SET))).toSorted((a, b) => a[1] - b[1])).toEqual(members);
        await put(
          SET,
          members.map(([member, score]) => [member, -score]),
        );
        expect((await range(SET)).map(([member]) => member)).toEqual(UNUSUAL.toReversed());
        expect(await read({ read: "number", key: SET })).toBe(members.length);
        await write({ write: "take", key: SET, members: UNUSUAL });
        expect(await exists(SET)).toBe(false);
      });
    });

    it("a sketch counts each member once", async () => {
      expect(await read({ read: "distinct", key: SKETCH })).toBe(0);
      await write({ write: "count", key: SKETCH, members: ["a", "b", "a"] });
      await write({ write: "count", key: SKETCH, members: ["b", "c"] });
      expect(await read({ read: "distinct", key: SKETCH })).toBe(3);
      expect(await exists(SKETCH)).toBe(true);
      await write({ write: "drop", key: SKETCH });
      expect(await read({ read: "distinct", key: SKETCH })).toBe(0);
      const members = Array.from({ length: 1_000 }, (_, nth) => `member ${nth}`);
      await write({ write: "count", key: SKETCH, members });
      const distinct = await read({ read: "distinct", key: SKETCH });
      expect(Math.abs(distinct - 1_000)).toBeLessThan(50);
    });

    describe("a page", () => {
      type Bounds = { from?: number; to: number | { key: string; field: string } };
      const page = (bounds: Bounds, limit = 100, budget = 1e6) =>
        read({ read: "page", key: LARGE, ...bounds, limit, budget });
      const numbers = async (...args: Parameters<typeof page>) =>
        (await page(...args)).map(([number]) => number);
      const fill = (entries: [number: number, chars: number][]) =>
        set(
          LARGE,
          ...entries.map(([number, chars]): Pair => [`${number}`, entryText(chars, `text\n${number}`)]),
        );
      it("goes up to what a field says, or down from it, and is empty if there is none", async () => {
        await fill([1, 2, 3, 4, 5].map((number) => [number, 10]));
        await set(SMALL, ["messages", "4"]);
        expect(await numbers({ to: { key: SMALL, field: "messages" } })).toEqual([4, 3, 2, 1]);
        expect(await numbers({ from: 3, to: { key: SMALL, field: "messages" } })).toEqual([3, 4]);
        expect(await numbers({ from: 1, to: { key: SMALL, field: "none" } })).toEqual([]);
        expect(await numbers({ to: { key: SMALL, field: "none" } })).toEqual([]);
        expect(await numbers({ to: { key: ABSENT, field: "messages" } })).toEqual([]);
      });

      it("ends before the budget does, but has one entry at least", async () => {
        await fill([
          [1, 50],
          [2, 30],
          [3, 20],
          [4, 100],
        ]);
        expect(await numbers({ from: 1, to: 4 }, 100, 100)).toEqual([1, 2, 3]);
        expect(await numbers({ from: 1, to: 4 }, 100, 99)).toEqual([1, 2]);
        expect(await numbers({ from: 1, to: 4 }, 100, 0)).toEqual([1]);
        expect(await numbers({ to: 4 }, 100, 149)).toEqual([4, 3]);
        expect(await numbers({ to: 4 }, 100, 150)).toEqual([4, 3, 2]);
        expect(await numbers({ to: 4 }, 100, 1)).toEqual([4]);
      });
    });

    describe("an expiry", () => {
      const expiry = (key: string) => read({ read: "expiry", key });
      const now = async () => {
        await engine.readTime();
        return engine.timeMs() ?? 0;
      };

      it.each([
        ["a small hash", SMALL],
        ["a large hash", LARGE],
        ["a sorted set", SET],
        ["a sketch", SKETCH],
      ])("drops %s, and nothing of it is there any more", async (_, key) => {
        const fill = () =>
          key === SET
            ? put(key, [
                ["a", 1],
                ["b", 2],
              ])
            : key === SKETCH
              ? write({ write: "count", key, members: ["a", "b"] })
              : set(key, ["a", "1"], ["1", entryText(1, "b")]);
        expect(await expiry(key)).toBeNull();
        await write({ write: "expire", key, inMs: 60_000 });
        expect(await exists(key)).toBe(false);
        await fill();
        expect(await expiry(key)).toBeNull();
        const before = await now();
        await write({ write: "expire", key, inMs: 60_000 });
        const endsAtMs = (await expiry(key)) ?? 0;
        expect(endsAtMs).toBeGreaterThanOrEqual(before + 60_000 - 1_000);
        expect(endsAtMs).toBeLessThanOrEqual((await now()) + 60_000 + 1_000);
        await it_.elapse(50_000);
        expect(await exists(key)).toBe(true);
        // A write of what is in it changes nothing about that.
        await fill();
        expect(await expiry(key)).not.toBeNull();
        await it_.elapse(15_000);

        expect(await exists(key)).toBe(false);
        expect(await expiry(key)).toBeNull();
        expect(await check({ check: "key", key, exists: false })).toBe(true);
        expect(await paged(engine.keys(""))).not.toContain(key);
        if (key === SET) {
          expect(await range(key)).toEqual([]);
          expect(await read({ read: "number", key })).toBe(0);
          expect(await read({ read: "scores", key, members: ["a"] })).toEqual([null]);
          expect(await check({ check: "score", key, member: "a", is: [null] })).toBe(true);
          expect(await paged(engine.memberPages(key))).toEqual([]);
          await put(key, [["c", 3]]);
          expect(await range(key)).toEqual([["c", 3]]);
        } else if (key === SKETCH) {
          expect(await read({ read: "distinct", key })).toBe(0);
          await write({ write: "count", key, members: ["c"] });
          expect(await read({ read: "distinct", key })).toBe(1);
        } else {
          expect(await hash(key)).toEqual([]);
          expect(await read({ read: "size", key })).toBe(0);
          expect(await read({ read: "fields", key, fields: ["a"] })).toEqual([null]);
          expect(await read({ read: "page", key: LARGE, to: 9, limit: 9, budget: 9 })).toEqual([]);
          expect(await check({ check: "field", key, field: "a", is: [null] })).toBe(true);
          expect(await paged(engine.hashPages(key))).toEqual([]);
          await set(key, ["c", "3"]);
          expect(await hash(key)).toEqual([["c", "3"]]);
        }
        // It is a new one.
        expect(await expiry(key)).toBeNull();
        await it_.elapse(120_000);
        expect(await exists(key)).toBe(true);
      });

      it("expire sets it anew; end only brings it forward", async () => {
        const start = await now();
        await set(SMALL, ["a", "1"]);
        await write({ write: "end", key: SMALL, atMs: start + 100_000 });
        expect(await expiry(SMALL)).toBe(start + 100_000);
        await write({ write: "end", key: SMALL, atMs: start + 200_000 });
        expect(await expiry(SMALL)).toBe(start + 100_000);
        await write({ write: "end", key: SMALL, atMs: start + 50_000 });
        expect(await expiry(SMALL)).toBe(start + 50_000);
        await write(
          { write: "expire", key: SMALL, inMs: 300_000 },
          { write: "end", key: SMALL, atMs: start + 250_000 },
        );
        expect(await expiry(SMALL)).toBe(start + 250_000);
        await it_.elapse(200_000);
        expect(await exists(SMALL)).toBe(true);
        await write({ write: "end", key: SMALL, atMs: start });
        expect(await exists(SMALL)).toBe(false);
        await write({ write: "end", key: ABSENT, atMs: start + 1e9 });
        expect(await exists(ABSENT)).toBe(false);
      });

      it("goes with its key, and the key that comes back has none", async () => {
        await set(SMALL, ["a", "1"]);
        await set(LARGE, ["a", "1"]);
        await put(SET, [["a", 1]]);
        for (const key of [SMALL, LARGE, SET]) await write({ write: "expire", key, inMs: 60_000 });
        await write({ write: "remove", key: SMALL, fields: ["a"] });
        await write({ write: "take", key: SET, members: ["a"] });
        await write({ write: "drop", key: LARGE });
        await set(SMALL, ["b", "1"]);
        await set(LARGE, ["b", "1"]);
        await put(SET, [["b", 1]]);
        for (const key of [SMALL, LARGE, SET]) expect(await expiry(key)).toBeNull();
      });
    });

    describe("a step", () => {
      const A: Write = { write: "set", key: SMALL, fields: [["a", "1"]] };
      const B: Write = { write: "put", key: SET, members: [["b", 1]] };
      const HASH = { read: "hash", key: SMALL } as const;

      it("writes nothing if a check fails, and says which and what it reads", async () => {
        await set(SMALL, ["a", "0"]);
        const checks: Check[] = [
          { check: "field", key: SMALL, field: "a", is: ["0"] },
          { check: "key", key: ABSENT, exists: true },
          { check: "score", key: SET, member: "b", is: [1] },
        ];
        const after: Write[] = [{ write: "set", key: LARGE, fields: [["f", "1"]] }];
        const applied = await engine.apply({
          ...step([A, B], { checks, after }),
          reads: [HASH, { read: "exists", key: SET }],
        });
        expect(applied).toEqual({ type: "failed", failed: 1, reads: [[["a", "0"]], false] });
        expect(await hash(SMALL)).toEqual([["a", "0"]]);
        expect(await exists(SET)).toBe(false);
        expect(await exists(LARGE)).toBe(false);
      });

      it("that was made writes only what comes after, whatever its checks say", async () => {
        const op = { key: SMALL, field: "op", value: "x" };
        const made: Step = step(
          [
            B,
            {
              write: "set",
              key: SMALL,
              fields: [
                ["a", "1"],
                ["op", "x"],
              ],
            },
          ],
          {
            op,
            checks: [{ check: "field", key: SMALL, field: "a", is: [null] }],
            after: [{ write: "set", key: LARGE, fields: [["f", "1"]] }],
          },
        );
        expect(await engine.apply(made)).toEqual({ type: "done", reads: [] });
        await write({ write: "drop", key: SET }, { write: "drop", key: LARGE });
        expect(
          await engine.apply({ ...made, reads: [{ read: "fields", key: SMALL, fields: ["op"] }] }),
        ).toEqual({
          type: "repeated",
          reads: [["x"]],
        });
        expect(await exists(SET)).toBe(false);
        expect(await hash(LARGE)).toEqual([["f", "1"]]);
        await set(SMALL, ["op", "y"]);
        expect((await engine.apply(made)).type).toBe("failed");
      });

      it("without writes checks and reads", async () => {
        await set(SMALL, ["a", "1"]);
        const is = (value: string): Check[] => [{ check: "field", key: SMALL, field: "a", is: [value] }];
        expect(await engine.apply({ ...step([], { checks: is("1") }), reads: [HASH] })).toEqual({
          type: "done",
          reads: [[["a", "1"]]],
        });
        expect(await engine.apply(step([], { checks: is("2") }))).toMatchObject({
          type: "failed",
          failed: 0,
        });
        const op = { key: SMALL, field: "a", value: "1" };
        expect(await engine.apply(step([], { checks: is("2"), op }))).toMatchObject({ type: "repeated" });
      });

      it("beside others is as if one came after the other", async () => {
        const raise = async () => {
          for (;;) {
            const [[known = null]] = await engine.read([{ read: "fields", key: SMALL, fields: ["n"] }]);
            const next = String(Number(known) + 1);
            const { type } = await engine.apply(
              step([{ write: "set", key: SMALL, fields: [["n", next]] }], {
                checks: [{ check: "field", key: SMALL, field: "n", is: [known] }],
              }),
            );
            if (type === "done") return;
          }
        };
        await Promise.all(Array.from({ length: 20 }, raise));
        expect(await hash(SMALL)).toEqual([["n", "20"]]);
      });

      it("that no caller relies on is made too", async () => {
        await engine.apply(step([A]), { durable: false });
        expect(await hash(SMALL)).toEqual([["a", "1"]]);
        expect(await engine.read([HASH], { durable: false })).toEqual([[["a", "1"]]]);
      });

      it("takes thousands of fields and members", async () => {
        const texts = Array.from({ length: 10_000 }, (_, nth) => `${nth}`);
        await write(
          { write: "set", key: LARGE, fields: texts.map((text) => [text, `v${text}`]) },
          { write: "put", key: SET, members: texts.map((text) => [text, Number(text)]) },
        );
        const members = texts.map((text): [string, number] => [text, Number(text)]);
        expect(await read({ read: "size", key: LARGE })).toBe(10_000);
        expect(await range(SET)).toEqual(members);
        expect((await read({ read: "fields", key: LARGE, fields: texts })).at(-1)).toBe("v9999");
        const all = await engine.read([
          { read: "fields", key: LARGE, fields: [] },
          { read: "fields", key: LARGE, fields: texts },
          { read: "scores", key: SET, members: texts },
          { read: "size", key: LARGE },
        ]);
        expect(all).toEqual([[], texts.map((text) => `v${text}`), texts.map(Number), 10_000]);
        const checks = texts.slice(0, 2_500).map((field): Check => ({
          check: "field",
          key: LARGE,
          field,
          is: [null, `v${field}`],
        }));
        expect((await engine.apply(step([], { checks }))).type).toBe("done");
        checks.push({ check: "field", key: LARGE, field: "0", is: [null, "v1"] });
        expect(await engine.apply(step([A], { checks }))).toMatchObject({ type: "failed", failed: 2_500 });
        expect(new Map(await paged(engine.hashPages(LARGE)))).toEqual(
          new Map(texts.map((text) => [text, `v${text}`])),
        );
        expect(new Map(await paged(engine.memberPages(SET)))).toEqual(new Map(members));
        await write({ write: "remove", key: LARGE, fields: texts }, { write: "drop", key: SET });
        expect(await exists(LARGE)).toBe(false);
        expect(await exists(SET)).toBe(false);
      });
    });

    it("keys() finds the keys whose names begin so, in every slot", async () => {
      const keys = Array.from({ length: 500 }, (_, nth) => `${nth % 2 ? "n" : "no"}:{c:s${nth % 7}}:${nth}`);
      for (const key of keys) {
        await engine.apply(
          {
            slot: key.slice(key.indexOf("{") + 1, key.indexOf("}")),
            checks: [],
            writes: [
              {
                write: "set",
                key,
                fields: [
                  ["a", "1"],
                  ["b", "2"],
                ],
              },
            ],
          },
          { durable: false },
        );
      }
      await put(SET, [["a", 1]]);
      const found = async (prefix: string) => new Set(await paged(engine.keys(prefix)));
      expect(await found("")).toEqual(new Set([...keys, SET]));
      expect(await found("n:")).toEqual(new Set(keys.filter((key) => key.startsWith("n:"))));
      expect(await found("no:{c:s1}")).toEqual(new Set(keys.filter((key) => key.startsWith("no:{c:s1}"))));
      expect(await found("watch")).toEqual(new Set([SET]));
      expect(await found("z")).toEqual(new Set());
      await write({ write: "drop", key: SET });
      expect(await found("watch")).toEqual(new Set());
    });

    it("a walk over pages finds what is there all the time, whatever changes meanwhile", async () => {
      const texts = Array.from({ length: 3_000 }, (_, nth) => `stays ${nth}`);
      await write(
        { write: "set", key: LARGE, fields: texts.map((text) => [text, "1"]) },
        { write: "put", key: SET, members: texts.map((text, nth) => [text, nth]) },
      );
      const seen = new Set<string>();
      for await (const page of engine.hashPages(LARGE)) {
        for (const [field] of page) seen.add(field);
        await set(LARGE, [`new ${seen.size}`, "1"]);
      }
      expect(texts.filter((text) => !seen.has(text))).toEqual([]);
      const members = new Set<string>();
      for await (const page of engine.memberPages(SET)) {
        for (const [member] of page) members.add(member);
        await put(
          SET,
          texts.map((text, nth) => [text, -nth]),
        );
      }
      expect(texts.filter((text) => !members.has(text))).toEqual([]);
      expect(await paged(engine.hashPages(ABSENT))).toEqual([]);
      expect(await paged(engine.memberPages(ABSENT))).toEqual([]);
    });

    it("tells those who listen under a name", async () => {
      const heard: string[] = [];
      await engine.listen("i:one", (text) => heard.push(`one ${text}`));
      await engine.listen("i:two", (text) => heard.push(`two ${text}`));
      engine.tell("i:one", "a\n😀");
      engine.tell("i:two", "");
      engine.tell("i:nobody", "c");
      await expect.poll(() => heard.toSorted()).toEqual(["one a\n😀", "two "]);
    });

    it("knows the time of the database, and whether it answers", async () => {
      await engine.readTime();
      expect(engine.timeMs()).toBeGreaterThan(0);
      expect((await engine.health()).reachable).toBe(true);
      engine.onReconnect(() => {})();
    });
  });
}

async function paged<T>(pages: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
