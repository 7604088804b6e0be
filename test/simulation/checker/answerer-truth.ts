import type { ThreadCommit } from "../../../src/store.ts";
import type { ThreadTruth } from "./thread-truth.ts";

/** Who answers in a thread, as its last write says. */
export interface Answerer {
  kind: "model" | "waiting" | "person";
  epoch: number;
  name: string | null;
  takeId: string | null;
  /** Until when the visitor waits: for a person, or for an answer of the person. */
  deadlineMs: number | null;
  /** The process that wrote so, its commit, and when. */
  by: string | null;
  opId: string | null;
  atMs: number;
}

export const MODEL_ANSWERS: Answerer = {
  kind: "model",
  epoch: 0,
  name: null,
  takeId: null,
  deadlineMs: null,
  by: null,
  opId: null,
  atMs: 0,
};

interface Snapshot {
  value: unknown;
  context: { epoch?: number; person?: Pick<Answerer, "name" | "takeId" | "deadlineMs"> | null };
}

const KINDS = new Map<unknown, Answerer["kind"]>([
  ["waiting_for_person", "waiting"],
  ["with_person", "person"],
]);

/** A thread that nobody ever asked a person for is stored without all of this. */
export function answererIn(
  { snapshot, opId }: ThreadCommit,
  { by, atMs }: { by: string; atMs: number },
): Answerer {
  const { value, context } = JSON.parse(snapshot) as Snapshot;
  const { epoch = 0, person } = context;
  const kind = KINDS.get(value) ?? "model";
  const { name = null, takeId = null, deadlineMs = null } = person ?? {};
  return { kind, epoch, name, takeId, deadlineMs, by, opId, atMs };
}

/** A message that no run has said: a person's, or the service's own words. */
const isNotice = (runId: string) => runId.startsWith("item-");

/** Who answers after a write; what is wrong with it is added to the problems. */
export function addAnswerer(
  { answerer: before, messages, problems }: ThreadTruth,
  { by, commit, atMs }: { by: string; commit: ThreadCommit; atMs: number },
): Answerer {
  const after = answererIn(commit, { by, atMs });
  const problem = (invariant: string, text: string) => void problems.push({ invariant, text });
  const hasChanged = before.kind !== after.kind || before.takeId !== after.takeId;
  if (after.epoch !== before.epoch + (hasChanged ? 1 : 0)) {
    problem(
      "epoch-counts-changes",
      `${after.kind} at ${after.epoch} follows ${before.kind} at ${before.epoch}`,
    );
  }
  const isPersons = before.kind !== "model";
  if (isPersons && commit.run && commit.run.lines.length > 0 && commit.messages.length > 0) {
    problem("no-word-after-a-take", `a run speaks while the thread is ${before.kind}`);
  }
  for (const { role, author, handledBy, runId, content } of commit.messages) {
    if (role === "user" && (handledBy === "person") !== isPersons) {
      problem(
        "one-answers-a-message",
        `“${content}” is ${String(handledBy)}'s, the thread is ${before.kind}`,
      );
    }
    if (role === "user") continue;
    if (author && (before.kind !== "person" || before.name !== author.name)) {
      problem(
        "who-took-it-writes",
        `“${content}” of ${author.name}, the thread is ${before.kind} ${before.name}`,
      );
    }
    if (author && messages.some((known) => known.author && known.content === content)) {
      problem("said-once", `“${content}” is there twice`);
    }
    if (!author && isPersons && !isNotice(runId)) {
      problem("no-word-after-a-take", `“${content}” while the thread is ${before.kind}`);
    }
  }
  return after;
}
