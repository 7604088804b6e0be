import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Clock, Timers } from "../../clock.ts";
import { everyMs } from "../../domain/channels/knowledge.ts";
import type { KnowledgeField, KnowledgeSource } from "../../domain/channels/knowledge.ts";
import { newId } from "../../domain/ids.ts";
import { messageOf } from "../../errors.ts";
import type { PlainLog } from "../../log.ts";
import { StoreUnavailable } from "../../store.ts";
import type { KnowledgeStore, KnownSources, SourceRecord } from "../../store.ts";
import type { PageFetch } from "../fetch/page-fetch.ts";
import type { Reader } from "../read/reader.ts";
import { LostLease, syncSource } from "./sync-source.ts";
import type { SourceSync } from "./sync-source.ts";

/** A process that died is followed by another one after so long. */
const LEASE_MS = 30_000;
const RENEWED_EVERY_MS = 10_000;
/** A source that could not be read is read again after so long, unless it is read more often anyway. */
const AGAIN_MS = 300_000;
/** Between two requests to a site that asks for no longer pause. */
const PAUSE_MS = 50;

export interface SyncsOptions {
  store: KnowledgeStore;
  clock: Pick<Clock, "now">;
  timers: Timers;
  log: Pick<PlainLog, "warn" | "info">;
  openFetch: () => PageFetch;
  openReader: () => Reader;
  /** What passages mean, for a channel with `embeddings`. */
  embed?: (model: string) => NonNullable<SourceSync["embed"]>;
  pauseMs?: number;
}

/** Reads the sources of channels that are due, those of one channel one after the other. */
export interface Syncs {
  /** Resolves when nothing of the channel is due any more, or another process reads it. */
  sync(slug: string, knowledge: KnowledgeField, signal: AbortSignal): Promise<void>;
}

export function createSyncs(options: SyncsOptions): Syncs {
  const { store, clock, timers, log } = options;

  /** Until the answer is called. Where it cannot be renewed, the next write of a page says so. */
  function keepLease(slug: string): () => void {
    let isOver = false;
    let callOff = () => {};
    function renewLater(): void {
      callOff = timers.after(RENEWED_EVERY_MS, () => {
        void store
          .leaseKnowledge(slug, LEASE_MS)
          .catch(() => {})
          .then(() => isOver || renewLater());
      });
    }
    renewLater();
    return () => {
      isOver = true;
      callOff();
    };
  }

  async function syncOne(
    slug: string,
    knowledge: KnowledgeField,
    { source, known, signal }: { source: KnowledgeSource; known: KnownSources; signal: AbortSignal },
  ): Promise<void> {
    const { name } = source;
    const wanted = known.wanted.get(name);
    if (wanted !== undefined) await store.beginWanted(slug, name, wanted);
    const record = begun(source, knowledge, known, clock.now());
    if (!(await store.keepSource(slug, record))) throw new LostLease();
    const otherPassages = known.sources
      .filter((other) => other.name !== name)
      .reduce((sum, other) => sum + other.passages, 0);
    const fetching = options.openFetch();
    const reader = options.openReader();
    const { embeddings } = knowledge;
    const embed = embeddings === undefined ? undefined : options.embed?.(embeddings);
    try {
      const { pages, failed } = await syncSource({
        store,
        slug,
        source,
        record,
        otherPassages,
        fetching,
        reader,
        signal,
        pause: (leastMs) => pause(Math.max(leastMs, options.pauseMs ?? PAUSE_MS), signal),
        now: () => clock.now(),
        newId,
        ...(embed ? { embed } : {}),
      });
      log.info({ channel: slug, source: name, pages, failed }, "documents are read");
    } catch (error) {
      if (error instanceof LostLease || error instanceof StoreUnavailable || signal.aborted) throw error;
      await fail(slug, record, error);
    } finally {
      await Promise.all([fetching.close(), reader.close()]);
    }
  }

  /** What was read of it before stays, and what this sync has read. */
  async function fail(slug: string, record: SourceRecord, error: unknown): Promise<void> {
    const fault = messageOf(error);
    log.warn({ channel: slug, source: record.name, err: error }, "documents cannot be read");
    const now = (await store.sources(slug)).sources.find(({ name }) => name === record.name) ?? record;
    const dueAtMs = Math.min(record.dueAtMs, clock.now() + AGAIN_MS);
    await store.keepSource(slug, { ...now, fault, dueAtMs, sync: null });
  }

  return {
    async sync(slug, knowledge, signal) {
      let known = await store.sources(slug);
      if (!hasWork(knowledge, known, clock.now())) return;
      if (!(await store.leaseKnowledge(slug, LEASE_MS))) return;
      const end = keepLease(slug);
      try {
        for (const { name } of known.sources) {
          if (!knowledge.sources.some((source) => source.name === name))
            await store.dropSource(slug, name, { rev: newId() });
        }
        for (const source of knowledge.sources) {
          signal.throwIfAborted();
          known = await store.sources(slug);
          if (isDue(source, knowledge, known, clock.now()))
            await syncOne(slug, knowledge, { source, known, signal });
        }
      } catch (error) {
        if (!(error instanceof LostLease)) throw error;
      } finally {
        end();
        await store.releaseKnowledge(slug).catch(() => {});
      }
    },
  };
}

/** Is anything of the channel to be read, or to be removed? */
export function hasWork(knowledge: KnowledgeField, known: KnownSources, nowMs: number): boolean {
  return (
    knowledge.sources.some((source) => isDue(source, knowledge, known, nowMs)) ||
    known.sources.some(({ name }) => !knowledge.sources.some((source) => source.name === name))
  );
}

function isDue(
  source: KnowledgeSource,
  knowledge: KnowledgeField,
  known: KnownSources,
  nowMs: number,
): boolean {
  const record = known.sources.find(({ name }) => name === source.name);
  if (!record || known.wanted.has(source.name)) return true;
  return record.sync !== null || record.dueAtMs <= nowMs || record.settings !== settingsOf(source, knowledge);
}

/** The source with a sync that begins, or with the one that was interrupted. */
function begun(source: KnowledgeSource, knowledge: KnowledgeField, known: KnownSources, nowMs: number) {
  const before = known.sources.find(({ name }) => name === source.name);
  const settings = settingsOf(source, knowledge);
  const isSame = before?.settings === settings;
  const ended = before ?? { pages: 0, passages: 0, failed: 0, failures: [], fault: null, readAtMs: null };
  const sync = (isSame ? before.sync : null) ?? { id: newId(), sinceMs: nowMs, anew: !isSame };
  const dueAtMs = sync.sinceMs + (everyMs(source.every) ?? AGAIN_MS);
  return { ...ended, name: source.name, settings, dueAtMs: Math.max(dueAtMs, nowMs + 1_000), sync };
}

/** Of what its pages and passages depend on. */
function settingsOf({ every: _, ...source }: KnowledgeSource, { embeddings }: KnowledgeField): string {
  return createHash("sha256")
    .update(JSON.stringify([source, embeddings]))
    .digest("base64url");
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await wait(ms, undefined, { signal });
}
