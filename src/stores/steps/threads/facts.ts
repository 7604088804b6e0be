import { DELETED_FENCE } from "../../../domain/threads/fence.ts";
import type { SealedText } from "../../content-keys/sealed-records.ts";
import type { Engine } from "../../engine.ts";
import { HEADER, tables } from "../../tables.ts";
import { createKnown } from "../known.ts";
import type { Known } from "../known.ts";

/**
 * What a commit depends on: a part of the thread's header. All of it changes with `op` only, but for `waiting`, `told`,
 * `watchedToMs` and `catalogId`: a commit that checks these needs to read nothing.
 */
export interface Facts {
  op: string | null;
  rev: number;
  /** Null: nobody holds it. */
  fence: string | null;
  state: string | null;
  messages: number;
  /** As stored: run ids, separated by spaces. */
  waiting: string | null;
  /** As stored. */
  told: string | null;
  /** The last commit's answer had a waiting message. */
  hasNext: boolean;
  /** It is listed among the threads with a deadline. */
  isDue: boolean;
  /** As stored. */
  watchedToMs: string | null;
  catalogId: string | null;
  runId: string | null;
  slug: string | null;
  hasTime: boolean;
  /** As stored. */
  hidden: string | null;
  /** The last run's contents as this process has sealed them last; null: they are not known, or not sealed. */
  sealedRun: SealedText | null;
}

/** The header's fields from which `factsFrom` makes facts, in its order. */
export const FACTS = [
  HEADER.op,
  HEADER.rev,
  HEADER.fence,
  HEADER.state,
  HEADER.messages,
  HEADER.waiting,
  HEADER.told,
  HEADER.opNext,
  HEADER.dueAtMs,
  HEADER.watchedToMs,
  HEADER.catalogId,
  HEADER.runId,
  HEADER.slug,
  HEADER.createdAtMs,
  HEADER.hidden,
] as const;

export function factsFrom(fields: readonly (string | null)[]): Facts {
  const [op, rev, fence, state, messages, waiting, told, opNext, dueAtMs, ...rest] = fields;
  const [watchedToMs, catalogId, runId, slug, createdAtMs, hidden] = rest;
  return {
    op: op ?? null,
    rev: Number(rev ?? 0),
    fence: fence || null,
    state: state ?? null,
    messages: Number(messages ?? 0),
    waiting: waiting ?? null,
    told: told ?? null,
    hasNext: opNext === "1",
    isDue: Boolean(dueAtMs),
    watchedToMs: watchedToMs ?? null,
    catalogId: catalogId ?? null,
    runId: runId ?? null,
    slug: slug || null,
    hasTime: Boolean(createdAtMs),
    hidden: hidden || null,
    sealedRun: null,
  };
}

export function isDeleted({ fence }: Pick<Facts, "fence">): boolean {
  return fence?.startsWith(DELETED_FENCE) ?? false;
}

/** The runs of the waiting messages, in order. */
export function waitingRunsOf(waiting: string | null | undefined): string[] {
  return waiting ? waiting.split(" ") : [];
}

/** A thread takes about 500 bytes; one that is not here costs a commit another read. */
const MOST_KNOWN = 10_000;

/** The facts of threads as this process last knew them. They may be stale: a step that relies on them checks them. */
export type KnownFacts = Known<Facts>;

export function knownFacts(): KnownFacts {
  return createKnown(MOST_KNOWN);
}

const LOOKED_UP = [...FACTS, HEADER.snapshot];

/** The facts, the snapshot, who claimed a client's message id, and whether a run has begun. */
export async function lookUp(
  engine: Engine,
  uid: string,
  {
    clientMessageId = "",
    runId = "",
    name,
  }: { clientMessageId?: string | undefined; runId?: string | undefined; name: string },
): Promise<{ facts: Facts; snapshot: string | null; claimed: string | null; hasBegun: boolean }> {
  const reads = [
    { read: "fields", key: tables.header.key(uid), fields: LOOKED_UP },
    { read: "fields", key: tables.claims.key(uid), fields: [clientMessageId] },
    { read: "fields", key: tables.runs.key(uid), fields: [runId] },
  ] as const;
  const [fields, [claimed = null], [summary = null]] = await engine.read(reads, { name });
  const snapshot = fields[FACTS.length] ?? null;
  const facts = factsFrom(fields);
  return { facts, snapshot, claimed, hasBegun: summary !== null || (runId !== "" && facts.runId === runId) };
}
