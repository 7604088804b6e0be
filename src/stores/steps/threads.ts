import type { ThreadCommit, ThreadStore } from "../../store/threads.ts";
import { slotOf } from "../engine.ts";
import type { Write } from "../engine.ts";
import { catalogKind } from "../records/records.ts";
import { HEADER, tables } from "../tables.ts";
import type { StepsContext } from "./context.ts";
import { fieldIs } from "./field-is.ts";
import { answererSteps } from "./threads/answerers.ts";
import { commitSteps } from "./threads/commit.ts";
import { knownFacts } from "./threads/facts.ts";
import { fileSteps } from "./threads/files.ts";
import { historySummarySteps } from "./threads/history-summary.ts";
import { queueSteps } from "./threads/queue.ts";
import { rateStep } from "./threads/rate.ts";
import { readingSteps } from "./threads/reading.ts";
import { catalogIdOf } from "./threads/records.ts";
import { salvageSteps } from "./threads/salvage.ts";
import { textSteps } from "./threads/texts.ts";
import { watch } from "./threads/watching.ts";

/** Everything inside a thread, in one slot for each. `committing`: called before each commit is sent, in the same tick. */
export function threadSteps(
  context: StepsContext,
  committing: (commit: ThreadCommit) => readonly Write[],
): ThreadStore {
  const { engine } = context;
  const known = knownFacts();
  const { join, completeClaim, ...queue } = queueSteps(context, known);

  return {
    ...readingSteps(context, known),
    ...textSteps(context, known),
    ...fileSteps(context),
    ...historySummarySteps(context, known),
    ...answererSteps(context),
    ...queue,
    ...salvageSteps(context, known),
    commit: commitSteps(context, { known, join, completeClaim, committing }),
    rate: rateStep(context, known),
    watch: (uid) => watch(context, uid),

    async setCatalog(uid, slug, catalog) {
      const key = tables.header.key(uid);
      const json = JSON.stringify(catalogKind.stored(catalog));
      const catalogId = catalogIdOf(catalog);
      const fields = [
        [HEADER.slug, slug],
        [HEADER.catalog, json],
        [HEADER.catalogId, catalogId],
      ] as const;
      const applied = await engine.apply({
        name: "setCatalog",
        slot: slotOf(key),
        checks: [fieldIs(key, HEADER.deletedAtMs, null)],
        writes: [{ write: "set", key, fields }],
      });
      const facts = known.get(uid);
      if (facts) known.set(uid, { ...facts, catalogId });
      return applied.type !== "failed";
    },
  };
}
