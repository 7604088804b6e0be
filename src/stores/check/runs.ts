import { chunks } from "../backup/pages.ts";
import { isObject } from "../checks.ts";
import type { Engine } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { readRunSummary } from "../records/records.ts";
import { tables } from "../tables.ts";
import { misreading } from "./checker.ts";
import type { Fault } from "./checker.ts";

const AT_ONCE = 500;

/**
 * A thread's runs in short form and their order have the same runs, among them the last one, if it has ended.
 *
 * @param lastRun as it is stored; null: there is none
 */
export async function runFaults(
  engine: Engine,
  uid: string,
  { runCount, orderedCount, lastRun }: { runCount: number; orderedCount: number; lastRun: unknown },
): Promise<Fault[]> {
  const [runs, order] = [tables.runs.key(uid), tables.runOrder.key(uid)];
  const hasEnded = isObject(lastRun) && lastRun["outcome"] !== null;
  const missing = new Set(hasEnded ? [String(lastRun["runId"])] : []);
  let unlisted: string | null = null;
  let unreadable: string | null = null;
  if (runCount > 0) {
    for await (const page of engine.hashPages(runs)) {
      for (const some of chunks(page, AT_ONCE)) {
        const members = some.map(([run]) => run);
        const [places] = await engine.read([{ read: "scores", key: order, members }]);
        for (const [nth, [run, json]] of some.entries()) {
          missing.delete(run);
          if ((places[nth] ?? null) === null) unlisted ??= run;
          const summary = jsonValue(json);
          unreadable ??= misreading(() => readRunSummary(summary, uid));
        }
      }
    }
  }
  if (orderedCount !== runCount) {
    for await (const page of engine.memberPages(order)) {
      for (const some of chunks(page, AT_ONCE)) {
        const fields = some.map(([run]) => run);
        const [summaries] = await engine.read([{ read: "fields", key: runs, fields }]);
        unlisted ??= fields.find((_, nth) => (summaries[nth] ?? null) === null) ?? null;
      }
    }
  }
  unlisted ??= [...missing][0] ?? null;
  const found: Fault[] = [];
  if (unlisted !== null) found.push({ rule: "run is not listed", what: `${uid}: ${unlisted}` });
  if (unreadable !== null) found.push({ rule: "record cannot be read", what: unreadable });
  return found;
}
