import { WATCH_MS } from "../../../store/threads.ts";
import { slotOf } from "../../engine.ts";
import type { Engine, Write } from "../../engine.ts";
import { HEADER, tables } from "../../tables.ts";
import { nowMs } from "../context.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";

/** A watched thread's header changes so seldom at most: whoever knows it need not read it again at each watcher's word. */
const NOTED_MS = 600_000;

/** `HEADER.watchedToMs` while somebody watches who has just said so. */
function watchedToMs(now: number): string {
  return String((Math.ceil((now + WATCH_MS) / NOTED_MS) + 1) * NOTED_MS);
}

/** This process watches the thread for WATCH_MS: the header says that somebody does, if there is one. */
export async function watch(context: StepsContext, uid: string): Promise<void> {
  const { engine, processId } = context;
  const now = nowMs(context);
  const key = tables.watchers.key(uid);
  // The key is never empty: what is put lasts longer than what is trimmed.
  const writes: Write[] = [
    { write: "put", key, members: [[processId, now + WATCH_MS]] },
    { write: "expire", key, inMs: WATCH_MS },
    { write: "trim", key, belowScore: now },
  ];
  const step = { name: "watch", slot: slotOf(key) };
  const noted = await engine.apply(
    { ...step, ...noting(uid, now), writes: [...writes, ...noting(uid, now).writes] },
    { durable: false },
  );
  if (noted.type === "failed") await engine.apply({ ...step, checks: [], writes }, { durable: false });
}

/** For a thread that was watched before it had a header. Best effort: its watchers say so again. What the header has then. */
export async function noteWatched(engine: Engine, uid: string, now: number): Promise<string> {
  const step = { name: "watch", slot: slotOf(tables.header.key(uid)), ...noting(uid, now) };
  await engine.apply(step, { durable: false }).catch(() => {});
  return watchedToMs(now);
}

function noting(uid: string, now: number) {
  const key = tables.header.key(uid);
  return {
    checks: [{ check: "key", key, exists: true } as const, fieldIs(key, HEADER.deletedAtMs, null)],
    writes: [{ write: "set", key, fields: [[HEADER.watchedToMs, watchedToMs(now)]] }] satisfies Write[],
  };
}
