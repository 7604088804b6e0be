// For src/stores/check/
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { RULES } from "../../../src/stores/check/rules.ts";
import type { Rule } from "../../../src/stores/check/rules.ts";
import { checkStore } from "../../../src/stores/check/check-store.ts";
import type { Told } from "../../../src/stores/check/check-store.ts";
import { suspicionsOf } from "../../../src/stores/check/suspicions.ts";
import { slotOf } from "../../../src/stores/engine.ts";
import type { Engine, Write } from "../../../src/stores/engine.ts";
import { openLmdbEngine } from "../../../src/stores/engines/lmdb/engine.ts";
import { storeOn } from "../../../src/stores/steps/store.ts";
import { bucketOf, externalId, HEADER, tables, USER } from "../../../src/stores/tables.ts";
import { walk } from "../../../src/stores/walk.ts";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { randomRuns } from "../../support/lengths.ts";
import { fillStore } from "../backup/fill.ts";
import { SLUG } from "../samples.ts";
import { dumpEngine } from "../dump-engine.ts";
import { createMemoryEngine } from "../engine/memory-engine.ts";
import { GONE_USER, plant, PLANTED, RESTORING } from "./planted.ts";

/** Everything in a sound store: what to write, key by key. */
let sound: Write[][];
beforeAll(async () => {
  const engine = createMemoryEngine(systemClock);
  const store = await storeOn(engine.handle(), { clock: systemClock, log: { warn() {} } });
  await fillStore(store);
  await store.close();
  sound = await writesOf(engine);
});

async function writesOf(engine: Engine): Promise<Write[][]> {
  const all: Write[][] = [];
  for await (const keys of walk(engine)) {
    for (const { key, table } of keys) {
      const writes: Write[] = [];
      if (tables[table].holds === "hash") {
        for await (const fields of engine.hashPages(key)) writes.push({ write: "set", key, fields });
      } else {
        for await (const members of engine.memberPages(key)) writes.push({ write: "put", key, members });
      }
      const [endsAtMs] = await engine.read([{ read: "expiry", key }]);
      if (endsAtMs !== null) writes.push({ write: "end", key, atMs: endsAtMs });
      all.push(writes);
    }
  }
  return all;
}

/** Nobody else uses the store. */
const check = (engine: Engine, { repair }: { repair: boolean }) =>
  checkStore(() => suspicionsOf(engine, { isServed: async () => false }), { repair, pauseMs: 0 });
const names = (told: readonly Told[]) => told.map(({ fault }) => `${fault.rule}: ${fault.what}`).toSorted();
const left = (told: readonly Told[]) => told.filter(({ repaired }) => !repaired);
const mendable = (rule: Rule) => "repair" in RULES[rule];

const engines = {
  memory: async () => ofOneSlot(createMemoryEngine(systemClock)),
  lmdb: () => openLmdbEngine({ dataDir: emptyFolder(), clock: systemClock }),
};
type EngineKind = keyof typeof engines;

/** Holds every call to keys of one slot, as a cluster does. */
function ofOneSlot(engine: Engine): Engine {
  const slotsOf = (named: readonly { key: string }[]) => new Set(named.map(({ key }) => slotOf(key)));
  return {
    ...engine,
    read(reads, how) {
      expect(slotsOf(reads).size).toBeLessThan(2);
      return engine.read(reads, how);
    },
    apply(step, how) {
      const { slot, checks, writes, reads = [] } = step;
      expect([...slotsOf([...checks, ...writes, ...reads])]).toEqual([slot]);
      return engine.apply(step, how);
    },
  };
}

async function soundEngine(kind: EngineKind): Promise<Engine> {
  const engine = await engines[kind]();
  await Promise.all(
    sound.map((writes) => engine.apply({ slot: slotOf(writes[0]?.key ?? ""), checks: [], writes })),
  );
  return engine;
}

describe("the check", () => {
  test("finds nothing in a sound store", async () => {
    expect(names((await check(await soundEngine("memory"), { repair: true })).told)).toEqual([]);
  });

  test("has every rule broken here", () => {
    const broken = new Set([...PLANTED, RESTORING].map(({ rule }) => rule));
    expect([...broken].toSorted()).toEqual(Object.keys(RULES).toSorted());
  });

  test.each([...PLANTED, RESTORING].map((planted) => [planted.rule, planted] as const))(
    "finds: %s; and mends it where that can be mended",
    async (rule, planted) => {
      const engine = await soundEngine("memory");
      await plant(engine, planted);
      const expected = planted.where.map((where) => `${rule}: ${where}`).toSorted();
      const before = await dumpEngine(engine);
      expect(names((await check(engine, { repair: false })).told)).toEqual(expected);
      expect(await dumpEngine(engine)).toEqual(before);

      const { told } = await check(engine, { repair: true });
      expect(names(told)).toEqual(expected);
      expect(names(left(told))).toEqual(mendable(rule) ? [] : expected);
      expect(names((await check(engine, { repair: false })).told)).toEqual(names(left(told)));
    },
  );
});

describe("a repair beside others", () => {
  const { token, tokens, names: namesOf, user, header, held, busy, external } = tables;
  const hold = held.key(bucketOf("many-7"), "p");
  const withPerson = busy.key(SLUG, "with_person");
  const zoes = external.key(SLUG, externalId("zoe"));
  const zoe: Write[] = [
    { write: "set", key: user.key(SLUG, "nobody"), fields: [[USER.external, "zoe"]] },
    { write: "set", key: tokens.key(SLUG, "nobody"), fields: [["stray", ""]] },
  ];

  test.each<[rule: Rule, kept: string, meanwhile: Write[]]>([
    ["token leads to nobody", token.key(SLUG, "stray"), zoe],
    ["external id leads to nobody", zoes, zoe],
    ["thread names of nobody", namesOf.key(SLUG, "nobody"), zoe],
    [
      "hold of a thread that is not held so",
      hold,
      [
        { write: "set", key: hold, fields: [["many-7", "p:2"]] },
        { write: "set", key: header.key("many-7"), fields: [[HEADER.fence, "p:2"]] },
      ],
    ],
    [
      "thread is listed by a state that it is not in",
      withPerson,
      [
        {
          write: "put",
          key: withPerson,
          members: [
            ["cid-one", 9],
            ["nowhere", 9],
          ],
        },
      ],
    ],
    [
      "resting thread has no deadline",
      header.key("bob-one"),
      [
        {
          write: "set",
          key: header.key("bob-one"),
          fields: [
            [HEADER.op, "commits"],
            [HEADER.dueAtMs, ""],
            [HEADER.state, "idle"],
          ],
        },
      ],
    ],
  ])("changes nothing if they were there before it: %s", async (rule, kept, meanwhile) => {
    const engine = await soundEngine("memory");
    for (const planted of PLANTED.filter((one) => one.rule === rule).slice(0, 1))
      await plant(engine, planted);
    let isBefore = true;
    const beside: Engine = {
      ...engine,
      async apply(step, how) {
        // Between the last look and the repair.
        if (isBefore) await plant(engine, { plant: meanwhile });
        isBefore = false;
        return engine.apply(step, how);
      },
    };
    for await (const suspicion of suspicionsOf(beside, { isServed: async () => false })) {
      if (suspicion.rule !== rule) continue;
      await suspicion.mend?.();
      break;
    }
    expect(isBefore).toBe(false);
    const { [kept]: entries } = await dumpEngine(engine);
    await plant(engine, { plant: meanwhile });
    expect(entries).toEqual((await dumpEngine(engine))[kept]);
    expect(entries).toBeDefined();
  });
});

describe.each(["memory", "lmdb"] as const)("the repair of a store in %s", (kind) => {
  test("makes a store what it was, if nothing was lost", async () => {
    const engine = await soundEngine(kind);
    const before = await dumpEngine(engine);
    for (const planted of PLANTED) {
      if (mendable(planted.rule) && !planted.isLossy) await plant(engine, planted);
    }
    await check(engine, { repair: true });
    expect(await dumpEngine(engine)).toEqual(before);
    await engine.close();
  });

  const losses = fc.array(
    fc.record<Loss>({
      key: fc.nat(),
      entry: fc.option(fc.nat()),
      text: fc.option(fc.constantFrom("", "x", "{}")),
    }),
    { maxLength: 12 },
  );

  test("leaves nothing to mend, whatever is wrong at once, and names what a person must decide", async () => {
    const ran = fc.asyncProperty(
      fc.shuffledSubarray([...PLANTED], { minLength: 2 }),
      fc.boolean(),
      fc.oneof(fc.constant([]), losses),
      async (planted, isUserGone, lost) => {
        const engine = await soundEngine(kind);
        for (const one of planted) await plant(engine, one);
        if (isUserGone) await plant(engine, { plant: [GONE_USER] });
        for (const loss of lost) await plant(engine, { plant: [await lossOf(engine, loss)] });

        const { told, isAll } = await check(engine, { repair: true });
        expect(isAll).toBe(true);
        expect(names(left(told).filter(({ fault }) => mendable(fault.rule)))).toEqual([]);
        const again = await check(engine, { repair: false });
        expect(names(again.told)).toEqual(names(left(told)));
        await engine.close();
        if (lost.length > 0) return;
        const named = new Set(again.told.map(({ fault }) => fault.rule));
        for (const { rule } of planted) if (!mendable(rule)) expect(named).toContain(rule);
        if (isUserGone) expect(names(again.told)).toContain("thread has no name: ann-one");
      },
    );
    await fc.assert(ran, { numRuns: randomRuns(kind === "memory" ? 60 : 20) });
  });
});

/** Damage to something that is stored. */
interface Loss {
  /** Which key, and which of its entries; null: all of it. */
  key: number;
  entry: number | null;
  /** What a field says instead; null: it is gone. */
  text: string | null;
}

async function lossOf(engine: Engine, { key: nthKey, entry, text }: Loss): Promise<Write> {
  const keys: { key: string; isHash: boolean }[] = [];
  for await (const page of walk(engine)) {
    for (const { key, table } of page) keys.push({ key, isHash: tables[table].holds === "hash" });
  }
  const { key, isHash } = keys[nthKey % keys.length] ?? { key: "", isHash: true };
  if (entry === null) return { write: "drop", key };
  const entries: string[] = [];
  for await (const page of isHash ? engine.hashPages(key) : engine.memberPages(key)) {
    entries.push(...page.map(([name]) => name));
  }
  const name = entries[entry % entries.length] ?? "";
  if (!isHash) return { write: "take", key, members: [name] };
  if (text === null) return { write: "remove", key, fields: [name] };
  return { write: "set", key, fields: [[name, text]] };
}
