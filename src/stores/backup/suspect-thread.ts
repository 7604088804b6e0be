import { UnreadableRecord } from "../../store.ts";
import type { ThreadPiece, WholeThread } from "./records.ts";
import type { Rule, Suspicion } from "./rules.ts";
import type { BackupSource } from "./source.ts";

type Threads = Pick<BackupSource, "thread">;

/** What is inconsistent within one thread. */
export async function suspectThread(uid: string, source: Threads): Promise<Suspicion[]> {
  const faults = await faultsIn(uid, source);
  return faults.map((fault) => ({
    rule: fault.rule,
    what: fault.what,
    isStill: async () => (await faultsIn(uid, source)).some((again) => again.rule === fault.rule),
  }));
}

interface Fault {
  rule: Rule;
  what: string;
}

async function faultsIn(uid: string, source: Threads): Promise<Fault[]> {
  const found = new Map<Rule, Fault>();
  const fault = (rule: Rule, fact: string) => {
    if (!found.has(rule)) found.set(rule, { rule, what: `${uid}: ${fact}` });
  };
  let last: ThreadPiece | WholeThread | null = null;
  const runs = new Set<string>();
  try {
    for await (const piece of piecesOf(uid, source)) {
      last = piece;
      for (const { runId } of piece.runs) runs.add(runId);
      for (const [i, { id }] of piece.messages.entries()) {
        const place = piece.messagesFrom + i + 1;
        if (id !== String(place)) fault("message is out of its place", `message ${place} has the id ${id}`);
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    return [{ rule: "record cannot be read", what: error.message }];
  }
  if (last?.type !== "thread") return [...found.values()];
  const { run, fence, waiting } = last;
  if (run !== null && !runs.has(run.runId)) fault("run is not listed", run.runId);
  if (waiting.length > 0 && fence === null) {
    fault("messages wait and nobody holds the thread", `${waiting.length}`);
  }
  return [...found.values()];
}

async function* piecesOf(uid: string, source: Threads): AsyncIterable<ThreadPiece | WholeThread> {
  const read = await source.thread(uid);
  if (!read) return;
  yield read.first;
  if (read.rest) yield* read.rest;
}
