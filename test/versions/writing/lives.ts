import { writeThreadsAtRest } from "./at-rest.ts";
import { writeChoices } from "./choices.ts";
import { writeHandOffs } from "./hand-off.ts";
import type { OldService } from "./old-service.ts";
import { letACallExpire, writePages } from "./pages.ts";
import { writePeople } from "./people.ts";
import { beginSecond, beginThird, writeRunningThreads } from "./running.ts";
import { revisit, visit } from "./world.ts";
import type { Visitor } from "./world.ts";

/**
 * Everything that the records hold, as three processes lived it. Each is killed; the next one takes the runs over, so that
 * some are at their second and third attempt when the last one dies.
 */
export async function liveThreeLives(old: OldService): Promise<void> {
  const { world } = old;
  const visitors: Visitor[] = [];
  await old.live({ TOOL_RESULT_TIMEOUT_SECONDS: "1" }, async () => {
    const visitor = await visit(world, "anonymous");
    visitors.push(visitor);
    await letACallExpire(world, visitor);
    await beginThird(world);
  });
  await old.live({ WIDGET_VISITOR_TTL_SECONDS: "1" }, async () => {
    await beginSecond(world);
    await visit(world, "expired", "shop", { state: "expired" });
  });
  await old.live({}, async () => {
    for (const visitor of visitors) await writePages(world, revisit(world, visitor));
    await writePeople(world);
    await writeThreadsAtRest(world);
    await writeHandOffs(world);
    await writeChoices(world);
    await writeRunningThreads(world);
  });
}
