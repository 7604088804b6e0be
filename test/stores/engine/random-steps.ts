import * as fc from "fast-check";
import { entryText } from "../../../src/stores/engine.ts";
import type { Check, Engine, Read, Step, Write } from "../../../src/stores/engine.ts";

/*
 * Random steps over a few keys, so that they meet. A draft is drawn from a seed; `stepFrom` makes of it a step that keeps the
 * rules of engine.ts, for the state in which it is sent.
 */
const SLOT = "t:00";
/** An engine may keep hashes that are known to be small in another way than large ones. */
const SMALL = `y:{${SLOT}}:a`;
const LARGE = `large:{${SLOT}}:a`;
/** Its fields are numbers, its values entries. */
const ENTRIES = `entries:{${SLOT}}:a`;
const HASHES = [SMALL, LARGE, ENTRIES];
const SETS = ["z1", "z2"].map((name) => `${name}:{${SLOT}}`);
const SKETCH = `s1:{${SLOT}}`;
const OP = { key: SMALL, field: "op" };
/** Texts that one engine or another may take for something else. */
export const UNUSUAL = [
  "",
  " ",
  "\0",
  "a\0b",
  "\u0001\u0002\u0003\u0004\u0010",
  "long\0\u0001".repeat(20),
  "line\r\nline",
  "__proto__",
  "constructor",
  "0",
  "1",
  "01",
  "-1",
  "1.5",
  "1e3",
  "9007199254740993",
  "99999999999999999999",
  "#",
  '"\\',
  "é😀\u{10ffff}\uffff",
  "x".repeat(300),
  "x".repeat(301),
  "x".repeat(2_500),
  `${"x".repeat(2_500)}y`,
  "😀".repeat(1_000),
  `x${"😀".repeat(1_000)}`,
  `\u0001${"x".repeat(2_500)}`,
];
/** Long after any test. */
const FAR_MS = Date.UTC(2100, 0, 1);

const isLong = (text: string) => text.length > 300;
const beginAlike = (one: string, other: string) =>
  isLong(one) && isLong(other) && one.slice(0, 300) === other.slice(0, 300);

/** Mostly a few, which meet. */
const text = (...few: string[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...few) }, fc.constantFrom(...UNUSUAL));
const name = text("a", "b", "c");
/** Of long texts that begin alike only one: as members of one score each engine sorts them as it likes (engine.ts). */
const member = name.filter(
  (text) => !isLong(text) || UNUSUAL.find((other) => beginAlike(other, text)) === text,
);
const value = text("", "1", "2", "x\n{}");
const score = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 4 }) },
  fc.constantFrom(-1, 0.5, 2 ** 53),
);
const hash = fc.constantFrom(SMALL, LARGE);
const set = fc.constantFrom(...SETS);
const nth = fc.integer({ min: 1, max: 5 });

const draftedWrite: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    write: fc.constant("set" as const),
    key: hash,
    fields: fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    write: fc.constant("set" as const),
    key: fc.constant(ENTRIES),
    fields: fc.array(
      fc.tuple(
        nth.map(String),
        fc.nat(3).map((chars) => entryText(chars, `\n${chars}`)),
      ),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  }),
  fc.record({
    write: fc.constant("remove" as const),
    key: hash,
    fields: fc.array(name, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    write: fc.constant("put" as const),
    key: set,
    members: fc.array(fc.tuple(member, score), { minLength: 1, maxLength: 3 }),
    mode: fc.constantFrom("raise" as const, "new" as const),
  }),
  fc.record({
    write: fc.constant("put" as const),
    key: set,
    members: fc.array(fc.tuple(member, score), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    write: fc.constant("take" as const),
    key: set,
    members: fc.array(member, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ write: fc.constant("trim" as const), key: set, belowScore: score }),
  fc.record({ write: fc.constant("drop" as const), key: fc.oneof(hash, set) }),
  fc.record({
    write: fc.constant("end" as const),
    key: fc.oneof(hash, set),
    atMs: fc.integer({ min: FAR_MS, max: FAR_MS + 3 }),
  }),
  fc.record({
    write: fc.constant("count" as const),
    key: fc.constant(SKETCH),
    members: fc.array(name, { minLength: 1, maxLength: 3 }),
  }),
);

const draftedCheck = fc.record({
  what: fc.oneof(
    fc.record({ check: fc.constant("field" as const), key: hash, field: name }),
    fc.record({ check: fc.constant("score" as const), key: set, member }),
    fc.record({ check: fc.constant("key" as const), key: fc.oneof(hash, set) }),
  ),
  /** Mostly as it is. */
  isSo: fc.constantFrom(true, true, true, true, true, false),
});

export const draft = fc.record({
  checks: fc.array(draftedCheck, { maxLength: 3 }),
  writes: fc.array(draftedWrite, { minLength: 1, maxLength: 5 }),
  after: fc.array(draftedWrite, { maxLength: 2 }),
  hasOp: fc.boolean(),
});
export type Draft = typeof draft extends fc.Arbitrary<infer Drafted> ? Drafted : never;

const ends = { from: fc.option(score, { nil: undefined }), to: fc.option(score, { nil: undefined }) };
const limit = fc.integer({ min: 1, max: 3 });

/** What can be asked, but for what `contentsOf` asks. */
export const someRead: fc.Arbitrary<Read> = fc
  .oneof(
    fc.record({
      read: fc.constant("fields" as const),
      key: hash,
      fields: fc.array(name, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      read: fc.constant("scores" as const),
      key: set,
      members: fc.array(member, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ read: fc.constant("range" as const), key: set, ...ends, limit, reverse: fc.boolean() }),
    fc.record({ read: fc.constant("number" as const), key: set, ...ends }),
    fc.record({ read: fc.constant("size" as const), key: fc.constantFrom(...HASHES) }),
    fc.record({ read: fc.constant("exists" as const), key: fc.oneof(hash, set) }),
    fc.record({
      read: fc.constant("page" as const),
      key: fc.constant(ENTRIES),
      from: fc.option(nth, { nil: undefined }),
      to: fc.nat(6),
      limit,
      budget: fc.nat(6),
    }),
  )
  .map((read) => withoutAbsent(read) as Read);

function withoutAbsent(read: object): object {
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** All that is kept under the keys of random steps. */
export async function contentsOf(engine: Pick<Engine, "read">) {
  const hashes = await engine.read(HASHES.map((key) => ({ read: "hash" as const, key })));
  const sets = await engine.read(SETS.map((key) => ({ read: "range" as const, key })));
  const ends = await engine.read([...HASHES, ...SETS].map((key) => ({ read: "expiry" as const, key })));
  const [counted] = await engine.read([{ read: "distinct", key: SKETCH }]);
  const sorted = hashes.map((pairs) => pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { hashes: sorted, sets, ends, counted };
}
export type Contents = Awaited<ReturnType<typeof contentsOf>>;

export async function clear(engine: Pick<Engine, "apply">): Promise<void> {
  const writes = [...HASHES, ...SETS, SKETCH].map((key): Write => ({ write: "drop", key }));
  await engine.apply({ slot: SLOT, checks: [], writes });
}

/** `nth`: of all steps of a test, so that each has an op of its own. */
export function stepFrom({ checks, writes, after, hasOp }: Draft, contents: Contents, nth: number): Step {
  const value = String(nth);
  const opened = hasOp ? writes.filter(({ key }) => key !== OP.key) : writes;
  const all: Write[] = hasOp
    ? [
        ...opened,
        {
          write: "set",
          key: OP.key,
          fields: [
            ["a", value],
            [OP.field, value],
          ],
        },
      ]
    : opened;
  const later = hasOp ? after.filter(({ key }) => key !== OP.key) : [];
  const kept = withoutEmptied(all, later);
  return {
    slot: SLOT,
    checks: checks.flatMap((drafted) => checkFrom(drafted, contents, kept.writes)),
    writes: kept.writes,
    after: kept.after,
    ...(hasOp ? { op: { ...OP, value } } : {}),
  };
}

/** The last two leave a key absent that was so. */
const MAY_EMPTY: readonly Write["write"][] = ["remove", "take", "trim", "drop", "end", "expire"];

/** Drops what would touch a key again that an earlier write may have emptied. */
function withoutEmptied(writes: readonly Write[], after: readonly Write[]) {
  const emptied = new Set<string>();
  const added = new Set<string>();
  const keep = (write: Write) => {
    if (emptied.has(write.key)) return false;
    if (write.write === "put" && write.mode === "new") added.add(write.key);
    else if (added.has(write.key) && MAY_EMPTY.includes(write.write)) return false;
    if (MAY_EMPTY.includes(write.write)) emptied.add(write.key);
    return true;
  };
  return { writes: writes.filter(keep), after: after.filter(keep) };
}

function checkFrom(
  { what, isSo }: Draft["checks"][number],
  contents: Contents,
  writes: readonly Write[],
): Check[] {
  const early = writes.slice(0, -1).filter(({ key }) => key === what.key);
  const pairs: [string, string | number][] = [
    ...(contents.hashes[HASHES.indexOf(what.key)] ?? []),
    ...(contents.sets[SETS.indexOf(what.key)] ?? []),
  ].map(([known, stands]) => [known, stands]);
  if (what.check === "key") {
    const exists = pairs.length > 0;
    return early.length > 0 ? [] : [{ ...what, exists: isSo ? exists : !exists }];
  }
  const entries = new Map(pairs);
  const its = what.check === "field" ? what.field : what.member;
  // As it is, and what each of the earlier writes makes of it.
  const wanted = [null, ...early].map((write) => {
    if (write) change(entries, write);
    return entries.get(its) ?? null;
  });
  if (what.check === "field")
    return [{ ...what, is: isSo ? wanted.map((one) => (one === null ? null : String(one))) : ["other"] }];
  return [{ ...what, is: isSo ? wanted.map((one) => (one === null ? null : Number(one))) : [99] }];
}

/** What a write makes of a hash or a sorted set. */
function change(entries: Map<string, string | number>, write: Write): void {
  switch (write.write) {
    case "set":
      for (const [field, value] of write.fields) entries.set(field, value);
      break;
    case "put":
      for (const [member, score] of write.members) {
        const known = entries.get(member);
        const stays =
          known !== undefined && (write.mode === "new" || (write.mode === "raise" && Number(known) > score));
        if (!stays) entries.set(member, score);
      }
      break;
    case "remove":
      for (const field of write.fields) entries.delete(field);
      break;
    case "take":
      for (const member of write.members) entries.delete(member);
      break;
    case "trim":
      for (const [member, score] of entries) if (Number(score) < write.belowScore) entries.delete(member);
      break;
    case "drop":
      entries.clear();
      break;
    case "end":
    case "expire":
    case "count":
  }
}
