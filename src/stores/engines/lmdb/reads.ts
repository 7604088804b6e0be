import { textOfEntry } from "../../engine.ts";
import type { Answers, Entry, Member, Read } from "../../engine.ts";
import * as layout from "./layout.ts";
import { estimate } from "./sketch.ts";
import { pairsOf, valueIn } from "./view.ts";
import type { View, Walk } from "./view.ts";

export function answersOf<Reads extends readonly Read[]>(
  view: View,
  reads: Reads | undefined,
): Answers<Reads>;
export function answersOf(view: View, reads: readonly Read[] = []): unknown[] {
  return reads.map((read) => answer(view, read));
}

function answer(view: View, read: Read): unknown {
  const { key } = read;
  switch (read.read) {
    case "fields": {
      if (!layout.isWhole(key)) return read.fields.map((field) => view.value(key, field));
      const fields = view.whole(key);
      return read.fields.map((field) => valueIn(fields, field));
    }
    case "hash":
      return view.pairs(key);
    case "range":
      return range(view, read);
    case "scores":
      return read.members.map((member) => view.score(key, member));
    case "number":
      return view.hasEnded(key) ? 0 : view.count(layout.scoresOf(key, ...scoresIn(read)));
    case "size":
      if (layout.isWhole(key)) return pairsOf(view.whole(key)).length;
      return view.hasEnded(key) ? 0 : view.count(layout.recordsOf(key));
    case "page":
      return page(view, read);
    case "expiry":
      return view.hasEnded(key) ? null : (view.endsAtMs(key) ?? null);
    case "distinct":
      return view.hasEnded(key) ? 0 : estimate(view.names(layout.recordsOf(key)));
    case "exists":
      return view.exists(key);
  }
}

const scoresIn = ({ from = -Infinity, to = Infinity }: { from?: number; to?: number }) => [from, to] as const;

function range(view: View, read: Read & { read: "range" }): Member[] {
  const { key, reverse = false, limit } = read;
  const [from, to] = scoresIn(read);
  if (from > to || limit === 0 || view.hasEnded(key)) return [];
  const bounds = layout.scoresOf(key, from, to);
  const between = reverse ? downFrom(bounds) : bounds;
  return membersOf(view.walk(limit === undefined ? between : { ...between, limit }));
}

export function membersOf(records: Iterable<{ key: string; value: string }>): Member[] {
  const found: Member[] = [];
  for (const { key, value } of records) {
    const [member, score] = layout.unpacked(key, value, true);
    found.push([member, Number(score)]);
  }
  return found;
}

function page(view: View, { key, from, to, limit, budget }: Read & { read: "page" }): Entry[] {
  const last = typeof to === "number" ? to : Number(view.value(to.key, to.field) ?? 0);
  if (!(last >= (from ?? 1)) || view.hasEnded(key)) return [];
  const bounds = layout.numbersOf(key, from ?? 1, last);
  const found: Entry[] = [];
  let left = budget;
  for (const { key: name, value } of view.walk(from === undefined ? downFrom(bounds) : bounds)) {
    const [field, entry] = layout.unpacked(name, value);
    left -= Number(entry.slice(0, Math.max(entry.indexOf("\n"), 0))) || 0;
    if (found.length === limit || (left < 0 && found.length > 0)) break;
    found.push([Number(field), textOfEntry(entry)]);
  }
  return found;
}

function downFrom({ start, end }: layout.Bounds): Walk {
  return { start: end, end: start, inclusiveEnd: true, reverse: true };
}
