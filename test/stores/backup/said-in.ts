import type { BackupRecord, ThreadLists } from "../../../src/stores/backup/records.ts";
import { linesOf } from "./copy.ts";

type Line = Record<string, unknown>;

/** What the lines of a backup say, however they are cut and ordered; without who spoke, which no store tells any more. */
export function saidIn(path: string): unknown[] {
  const said: Line[] = [];
  let pieces: ThreadLists[] = [];
  for (const line of linesOf(path).slice(1, -1)) {
    const record = line as unknown as BackupRecord;
    if (record.type === "piece") pieces.push(record);
    else if (record.type === "thread") {
      said.push(joined([...pieces, record], record));
      pieces = [];
    } else if (record.type === "names")
      for (const name of record.names) said.push({ ...record, names: [name] });
    else if (record.type === "stats") said.push({ ...record, speakers: [] });
    else said.push(line);
  }
  return sorted(said);
}

function joined(pieces: ThreadLists[], thread: object): Line {
  return {
    ...thread,
    first: true,
    messagesFrom: 0,
    runsFrom: 0,
    messages: pieces.flatMap(({ messages }) => messages),
    runs: pieces.flatMap(({ runs }) => runs),
    parts: sorted(pieces.flatMap(({ parts }) => parts)),
    claims: sorted(pieces.flatMap(({ claims }) => claims)),
  };
}

function sorted<T>(list: readonly T[]): T[] {
  return list.toSorted((a, b) => (inOrder(a) < inOrder(b) ? -1 : 1));
}

/** As text, whatever the order of its keys. */
function inOrder(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
