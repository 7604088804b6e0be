import { textOfEntry } from "../../engine.ts";
import type { Applied, Entry, Member, Pair, Read } from "../../engine.ts";
import type { Reply } from "./connection.ts";
import { commandsOf } from "./encode.ts";

/*
 * What the functions answer (apply.lua), as an engine answers it. A reply of another shape is a bug, or another program's
 * Redis: it throws at once.
 */

/** The answers of the reads, in their order. */
export function answersFrom(reads: readonly Read[], reply: Reply | undefined): unknown[] {
  const found = listOf(reply);
  let at = 0;
  return reads.map((read) => {
    const count = commandsOf(read);
    at += count;
    return answerFrom(read, count === 1 ? found[at - 1] : found.slice(at - count, at).flatMap(listOf));
  });
}

export function appliedFrom(reads: readonly Read[], reply: Reply): Applied<readonly Read[]> {
  const [how, found] = listOf(reply);
  const answers = answersFrom(reads, found) as never;
  if (how === "done" || how === "repeated") return { type: how, reads: answers };
  return { type: "failed", failed: numberOf(how), reads: answers };
}

function answerFrom({ read }: Read, reply: Reply | undefined): unknown {
  switch (read) {
    case "fields":
      return listOf(reply).map(textOrNull);
    case "hash":
      return pairsFrom(reply);
    case "range":
      return membersFrom(reply);
    case "scores":
      return listOf(reply).map((score) => (score === null ? null : numberOf(score)));
    case "page":
      return entriesFrom(reply);
    case "expiry": {
      const atMs = numberOf(reply);
      return atMs < 0 ? null : atMs;
    }
    case "exists":
      return reply === 1;
    case "number":
    case "size":
    case "distinct":
      return numberOf(reply);
  }
}

function entriesFrom(reply: Reply | undefined): Entry[] {
  const flat = listOf(reply);
  const entries: Entry[] = [];
  for (let i = 0; i < flat.length; i += 2)
    entries.push([numberOf(flat[i]), textOfEntry(textOf(flat[i + 1]))]);
  return entries;
}

/** Names and values that follow one another. */
export function pairsFrom(reply: Reply | undefined): Pair[] {
  const flat = listOf(reply);
  const pairs: Pair[] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([textOf(flat[i]), textOf(flat[i + 1])]);
  return pairs;
}

export function membersFrom(reply: Reply | undefined): Member[] {
  return pairsFrom(reply).map(([member, score]): Member => [member, Number(score)]);
}

export function listOf(reply: Reply | undefined): Reply[] {
  if (!Array.isArray(reply)) throw misread("a list", reply);
  return reply;
}

export function textOf(reply: Reply | undefined): string {
  if (typeof reply !== "string") throw misread("a text", reply);
  return reply;
}

export function textOrNull(reply: Reply | undefined): string | null {
  return reply === null || reply === undefined ? null : textOf(reply);
}

/** A number, or the text of one. */
export function numberOf(reply: Reply | undefined): number {
  const number = Number(reply ?? Number.NaN);
  if (Number.isNaN(number)) throw misread("a number", reply);
  return number;
}

function misread(expected: string, reply: Reply | undefined): Error {
  return new Error(`Cannot read an answer of Redis: expected ${expected}, got ${typeof reply}`);
}
