import type { Engine, Entry } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { readMessage } from "../records/records.ts";
import { HEADER, tables } from "../tables.ts";
import { misreading } from "./checker.ts";
import type { Fault } from "./checker.ts";

const AT_ONCE = 200;
const BUDGET_CHARS = 1_000_000;

/** A page of the messages that the header counts. */
export function messagesPage(uid: string, from: number) {
  const to = { key: tables.header.key(uid), field: HEADER.messages };
  const key = tables.messages.key(uid);
  return { read: "page", key, from, to, limit: AT_ONCE, budget: BUDGET_CHARS } as const;
}

/**
 * Each of a thread's `count` messages is in its place. What lies beyond them is no fault: a step that was stopped has left
 * it, nobody reads it, and the next step writes over it.
 *
 * @param first the first page
 */
export async function messageFaults(
  engine: Engine,
  uid: string,
  { count, first }: { count: number; first: Entry[] },
): Promise<Fault[]> {
  let misplaced: string | null = null;
  let unreadable: string | null = null;
  let next = 1;
  for (let page = first; page.length > 0;) {
    for (const [number, json] of page) {
      if (number !== next) misplaced ??= `message ${next} is missing`;
      next = number + 1;
      const record = jsonValue(json);
      const fact = misreading(() => {
        const { id } = readMessage(record, uid);
        if (id !== String(number)) misplaced ??= `message ${number} has the id ${id}`;
      });
      unreadable ??= fact;
    }
    if (next > count) break;
    [page] = await engine.read([messagesPage(uid, next)]);
  }
  if (next <= count) misplaced ??= `message ${next} is missing`;
  const found: Fault[] = [];
  if (misplaced !== null) found.push({ rule: "message is out of its place", what: `${uid}: ${misplaced}` });
  if (unreadable !== null) found.push({ rule: "record cannot be read", what: unreadable });
  return found;
}
