import type { ThreadCommit, ThreadStore } from "../../store/threads.ts";
import { WATCH_MS } from "../../store/threads.ts";
import { slotOf } from "../engine.ts";
import type { Write } from "../engine.ts";
import { catalogKind } from "../records.ts";
import { HEADER, tables } from "../tables.ts";
import { nowMs } from "./context.ts";
import type { StepsContext } from "./context.ts";
import { commitSteps } from "./threads/commit.ts";
import { knownFacts } from "./threads/facts.ts";
import { queueSteps } from "./threads/queue.ts";
import { rateStep } from "./threads/rate.ts";
import { readingSteps } from "./threads/reading.ts";
import { salvageSteps } from "./threads/salvage.ts";
import { textSteps } from "./threads/texts.ts";

/** Everything inside a thread, in one slot for each. `committing`: called before each commit is sent, in the same tick. */
export function threadSteps(
  context: StepsContext,
  committing: (commit: ThreadCommit) => readonly Write[],
): ThreadStore {
  const { engine, processId } = context;
  const known = knownFacts();
  const { join, ...queue } = queueSteps(context, known);

  return {
    ...readingSteps(context, known),
    ...textSteps(context, known),
    ...queue,
    ...salvageSteps(context, known),
    commit: commitSteps(context, { known, join, committing }),
    rate: rateStep(context, known),

    async setCatalog(uid, slug, catalog) {
      const key = tables.header.key(uid);
      const json = JSON.stringify(catalogKind.stored(catalog));
      const fields = [
        [HEADER.slug, slug],
        [HEADER.catalog, json],
      ] as const;
      const applied = await engine.apply({
        name: "setCatalog",
        slot: slotOf(key),
        checks: [{ check: "field", key, field: HEADER.deletedAtMs, is: [null] }],
        writes: [{ write: "set", key, fields }],
      });
      return applied.type !== "failed";
    },

    async watch(uid) {
      const key = tables.watchers.key(uid);
      const now = nowMs(context);
      const members = [[processId, now + WATCH_MS]] as const;
      // The key is never empty: what is put lasts longer than what is trimmed.
      const writes = [
        { write: "put", key, members },
        { write: "expire", key, inMs: WATCH_MS },
        { write: "trim", key, belowScore: now },
      ] as const;
      await engine.apply({ name: "watch", slot: slotOf(key), checks: [], writes }, { durable: false });
    },
  };
}
