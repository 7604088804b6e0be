import { systemClock } from "../../clock.ts";
import type { Clock } from "../../clock.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import { holderOf } from "../../domain/threads/fence.ts";
import type { Operator } from "../../domain/people/operator.ts";
import type { Engine } from "../engine.ts";
import { NOTHING_DELETED, withoutDeleted } from "./deletions.ts";
import type { Deleted } from "./deletions.ts";
import { readBackup } from "./file.ts";
import type { BackupEnd, BackupHeader } from "./file.ts";
import { begin, finish, isEmpty, put } from "./fill-store.ts";
import { channelsOf } from "./read-store.ts";
import { count, NOTHING } from "./records.ts";
import type { BackupRecord, Counts } from "./records.ts";
import { restoringOf } from "./restoring.ts";
import type { Restoring } from "./restoring.ts";

/** A backup that was read to its end and verified. */
export interface VerifiedBackup {
  path: string;
  header: BackupHeader;
  end: BackupEnd;
  channels: Channel[];
  addresses: string[];
  operators: Operator[];
  /** Threads that come again under another user: the last copy counts. */
  moved: ReadonlySet<string>;
}

export type OnProgress = (progress: { action: "verify" | "restore"; read: number; size: number }) => void;

/** Reads a whole backup; throws BadFile. */
export async function verifyBackup(path: string, onProgress: OnProgress = () => {}): Promise<VerifiedBackup> {
  const reader = await readBackup(path);
  const channels: Channel[] = [];
  const addresses: string[] = [];
  const operators: Operator[] = [];
  const moved = new Set<string>();
  for await (const record of reader.lines) {
    if (record.type === "channel") channels.push(record.channel);
    else if (record.type === "address") addresses.push(record.address);
    else if (record.type === "operator") operators.push(record.operator);
    else if (record.type === "moved") moved.add(record.uid);
    onProgress({ action: "verify", ...reader.progress() });
  }
  const end = reader.end();
  if (end === undefined) throw new Error(`Cannot read ${path}: it has no end`);
  return { path, header: reader.header, end, channels, addresses, operators, moved };
}

/** A backup may not be restored into this store. */
class CannotRestore extends Error {
  constructor(fact: string) {
    super(`Cannot restore: ${fact}`);
    this.name = "CannotRestore";
  }
}

/** What is written at once: all of one slot are one step, and a step must end within a call's deadline. */
const RECORDS_AT_ONCE = 500;
/** A thread counts for more than one record: by its messages and texts. */
const WEIGHT_AT_ONCE = 2_000;

/**
 * Fills an empty store, or continues an interrupted restore of the same file. Until it is done the store has no
 * channels: no request is admitted, so none sees an incomplete store. What is in `deleted` is never written. Resolves
 * to how many of each kind the store then has from the file.
 */
export async function restoreBackup(
  engine: Engine,
  backup: VerifiedBackup,
  {
    onProgress = () => {},
    atOnce = RECORDS_AT_ONCE,
    deleted = NOTHING_DELETED,
    clock = systemClock,
  }: { onProgress?: OnProgress; atOnce?: number; deleted?: Deleted; clock?: Clock } = {},
): Promise<Counts> {
  const restoring = (await resumed(engine, backup)) ?? (await begun(engine, backup));
  const reader = await readBackup(backup.path);
  const moved = { threads: new Set(backup.moved), users: NOTHING_DELETED.users };
  const leftOut = { ...NOTHING };
  let skipped = restoring.done;
  let batch: BackupRecord[] = [];
  let weight = 0;

  async function flush(): Promise<void> {
    // Of a thread that moved only what comes after its mark.
    const latest = batch.map((record) => withoutDeleted(record, moved)).filter((record) => record !== null);
    const wanted = latest
      .map((record) => withoutDeleted(record, deleted))
      .filter((record) => record !== null);
    await put(engine, wanted, { restoring, nowMs: clock.now() });
    batch = [];
    weight = 0;
    onProgress({ action: "restore", ...reader.progress() });
  }

  for await (const record of reader.lines) {
    if (record.type === "moved") {
      // The records before it are filtered while the thread still counts as moved.
      if (batch.length > 0) await flush();
      moved.threads.delete(record.uid);
    }
    if (withoutDeleted(record, deleted) === null) count(leftOut, record);
    if (skipped > 0) {
      skipped -= 1;
      continue;
    }
    batch.push(record);
    if (record.type === "thread" && record.fence !== null) noteHolder(restoring, record.fence);
    weight += weightOf(record);
    restoring.done += 1;
    if (batch.length >= atOnce || weight >= WEIGHT_AT_ONCE) await flush();
  }
  await flush();

  const { addresses, operators, end } = backup;
  const kept = restoring.channels.filter(
    (channel) => !backup.channels.some((other) => collide(channel, other)),
  );
  const channels = [...kept, ...backup.channels];
  await finish(engine, { channels, addresses, operators, holders: restoring.holders });
  return {
    channels: end.channels - leftOut.channels,
    users: end.users - leftOut.users,
    tokens: end.tokens - leftOut.tokens,
    threads: end.threads - leftOut.threads,
    messages: end.messages - leftOut.messages,
  };
}

async function resumed(engine: Engine, { end, path }: VerifiedBackup): Promise<Restoring | null> {
  const restoring = await restoringOf(engine);
  if (restoring === null) return null;
  if (restoring.sha256 === end.sha256) return restoring;
  const taken = new Date(restoring.takenAtMs).toISOString();
  throw new CannotRestore(
    `a restore of another file than ${path} has not ended: restore the backup of ${taken} again, or empty the store`,
  );
}

async function begun(engine: Engine, { header, end }: VerifiedBackup): Promise<Restoring> {
  const refusal = new CannotRestore("the store is not empty, it has users, threads or tokens");
  if (!(await isEmpty(engine))) throw refusal;
  const channels = await channelsOf(engine);
  const restoring = { sha256: end.sha256, takenAtMs: header.takenAtMs, done: 0, channels, holders: [] };
  await begin(engine, restoring);
  // A request may have been admitted before the channels were removed.
  if (!(await isEmpty(engine))) {
    await finish(engine, { channels, addresses: [], operators: [], holders: [] });
    throw refusal;
  }
  return restoring;
}

function noteHolder({ holders }: Restoring, fence: string): void {
  const holder = holderOf(fence);
  if (!holders.includes(holder)) holders.push(holder);
}

function weightOf(record: BackupRecord): number {
  if (record.type === "names") return record.names.length;
  if (record.type !== "piece" && record.type !== "thread") return 1;
  // A part of a reply weighs 20; images may be many times longer.
  const parts = record.parts.reduce((sum, { text }) => sum + Math.max(20, Math.ceil(text.length / 4_000)), 0);
  return record.messages.length + record.runs.length + parts + record.claims.length;
}

/** A channel of the backup replaces one that the store had. */
function collide(one: Channel, other: Channel): boolean {
  return (
    one.slug === other.slug || (one.publishableKey !== null && one.publishableKey === other.publishableKey)
  );
}
