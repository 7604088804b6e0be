import type { Clock } from "../../../src/clock.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import { textOfEntry } from "../../../src/stores/engine.ts";
import type { Applied, Check, Engine, Entry, Member, Read, Step, Write } from "../../../src/stores/engine.ts";

type Value = Map<string, string> | Map<string, number> | Set<string>;

/** An engine in memory, as plain as it can be: the other ones are compared with it. */
export interface MemoryEngine extends Engine {
  /** A further handle on the same data; it is closed by itself. */
  handle(): Engine;
  /** Everything that is stored, in a form that can be compared. */
  dump(): Record<string, unknown>;
  /** From now on a step throws before its write number `nth`, counted from 0, once. */
  stopBefore(nth: number): void;
  elapse(ms: number): void;
}

export class Stopped extends Error {}

export function createMemoryEngine(clock?: Clock): MemoryEngine {
  const values = new Map<string, { value: Value; endsAtMs: number }>();
  let aheadMs = 0;
  let stop = Infinity;
  const listeners = new Map<string, Set<(text: string) => void>>();
  const now = () => (clock?.now() ?? 0) + aheadMs;

  function found<T extends Value>(key: string): T | undefined {
    const stored = values.get(key);
    if (stored && stored.endsAtMs <= now()) values.delete(key);
    return values.get(key)?.value as T | undefined;
  }

  function made<T extends Value>(key: string, empty: T): T {
    const there = found<T>(key);
    if (there) return there;
    values.set(key, { value: empty, endsAtMs: Infinity });
    return empty;
  }

  const hash = (key: string) => found<Map<string, string>>(key) ?? new Map<string, string>();
  const scores = (key: string) => found<Map<string, number>>(key) ?? new Map<string, number>();

  function holds(check: Check): boolean {
    switch (check.check) {
      case "field":
        return check.is.includes(hash(check.key).get(check.field) ?? null);
      case "score":
        return check.is.includes(scores(check.key).get(check.member) ?? null);
      case "key":
        return (found(check.key) !== undefined) === check.exists;
    }
  }

  function range(
    key: string,
    { from = -Infinity, to = Infinity, reverse = false, limit = Infinity },
  ): Member[] {
    const bytes = ([a]: Member, [b]: Member) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    const sorted = [...scores(key)]
      .filter(([, score]) => score >= from && score <= to)
      .sort((a, b) => a[1] - b[1] || bytes(a, b));
    return (reverse ? sorted.reverse() : sorted).slice(0, limit);
  }

  function page({ key, from, to, limit, budget }: Read & { read: "page" }): Entry[] {
    const entries = hash(key);
    const found: Entry[] = [];
    const last = typeof to === "number" ? to : Number(hash(to.key).get(to.field) ?? 0);
    let left = budget;
    for (let nth = 0; nth <= last - (from ?? 1); nth++) {
      const number = from === undefined ? last - nth : from + nth;
      const entry = entries.get(String(number));
      if (entry === undefined) continue;
      left -= Number(entry.slice(0, Math.max(entry.indexOf("\n"), 0))) || 0;
      if (found.length === limit || (left < 0 && found.length > 0)) break;
      found.push([number, textOfEntry(entry)]);
    }
    return found;
  }

  function answer(read: Read): unknown {
    switch (read.read) {
      case "fields":
        return read.fields.map((field) => hash(read.key).get(field) ?? null);
      case "hash":
        return [...hash(read.key)];
      case "range":
        return range(read.key, read);
      case "scores":
        return read.members.map((member) => scores(read.key).get(member) ?? null);
      case "number":
        return range(read.key, read).length;
      case "size":
        return hash(read.key).size;
      case "page":
        return page(read);
      case "expiry": {
        found(read.key);
        const endsAtMs = values.get(read.key)?.endsAtMs ?? Infinity;
        return endsAtMs === Infinity ? null : endsAtMs;
      }
      case "distinct":
        return found<Set<string>>(read.key)?.size ?? 0;
      case "exists":
        return found(read.key) !== undefined;
    }
  }

  function write(change: Write): void {
    const { key } = change;
    switch (change.write) {
      case "set":
        for (const [field, value] of change.fields) made(key, new Map<string, string>()).set(field, value);
        break;
      case "remove":
        for (const field of change.fields) found<Map<string, string>>(key)?.delete(field);
        break;
      case "put":
        for (const [member, score] of change.members) {
          const members = made(key, new Map<string, number>());
          const known = members.get(member);
          if (change.mode === "new" && known !== undefined) continue;
          if (change.mode === "raise" && known !== undefined && known >= score) continue;
          members.set(member, score);
        }
        break;
      case "take":
        for (const member of change.members) found<Map<string, number>>(key)?.delete(member);
        break;
      case "trim":
        for (const [member, score] of scores(key)) if (score < change.belowScore) scores(key).delete(member);
        break;
      case "drop":
        values.delete(key);
        break;
      case "expire":
      case "end": {
        const stored = found(key) && values.get(key);
        if (!stored) break;
        stored.endsAtMs =
          change.write === "expire" ? now() + change.inMs : Math.min(stored.endsAtMs, change.atMs);
        break;
      }
      case "count":
        for (const member of change.members) made(key, new Set<string>()).add(member);
    }
    if (found(key)?.size === 0) values.delete(key);
  }

  function writeAll(changes: readonly Write[]): void {
    for (const change of changes) {
      if (stop-- === 0) {
        stop = Infinity;
        throw new Stopped();
      }
      write(change);
    }
  }

  function apply(step: Step): Applied<readonly Read[]> {
    const { checks, writes, op, after = [], reads = [] } = structuredClone(step);
    const answers = reads.map(answer) as never;
    if (op && hash(op.key).get(op.field) === op.value) {
      writeAll(after);
      return { type: "repeated", reads: answers };
    }
    const failed = checks.findIndex((check) => !holds(check));
    if (failed >= 0) return { type: "failed", failed, reads: answers };
    writeAll([...writes, ...after]);
    return { type: "done", reads: answers };
  }

  const copy = (value: Value) =>
    value instanceof Set
      ? [...value].sort()
      : Object.fromEntries([...value].sort(([a], [b]) => (a < b ? -1 : 1)));

  function handle(): Engine {
    let isClosed = false;
    const open = <Result>(work: () => Result): Promise<Result> =>
      isClosed
        ? Promise.reject(new StoreUnavailable("use the store in memory"))
        : Promise.resolve().then(work);

    return {
      kind: "redis",
      read: (reads) => open(() => reads.map(answer) as never),
      apply: (step) => open(() => apply(step) as never),
      async *hashPages(key) {
        if (hash(key).size > 0) yield [...hash(key)];
      },
      async *memberPages(key) {
        if (scores(key).size > 0) yield range(key, {});
      },
      async *keys(prefix) {
        const names = [...values.keys()].filter((key) => key.startsWith(prefix) && found(key) !== undefined);
        if (names.length > 0) yield names;
      },
      timeMs: now,
      readTime: async () => {},
      tell(name, text) {
        setImmediate(() => listeners.get(name)?.forEach((listener) => listener(text)));
      },
      async listen(name, listener) {
        listeners.set(name, (listeners.get(name) ?? new Set()).add(listener));
      },
      onReconnect: () => () => {},
      health: async () => ({ reachable: !isClosed, warnings: [] }),
      async close() {
        isClosed = true;
      },
    };
  }

  return {
    ...handle(),
    handle,
    dump: () =>
      Object.fromEntries(
        [...values]
          .filter(([key]) => found(key) !== undefined)
          .map(([key, { value, endsAtMs }]) => [key, { value: copy(value), endsAtMs }] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    stopBefore: (nth) => void (stop = nth),
    elapse: (ms) => void (aheadMs += ms),
  };
}
