import type { Deletion, DeletionStore } from "../../store.ts";
import { slotOf } from "../engine.ts";
import type { Write } from "../engine.ts";
import { tables } from "../tables.ts";
import type { StepsContext } from "./context.ts";
import { eraseSteps } from "./deletions/erase-thread.ts";
import { unlistThreadSteps } from "./deletions/unlist-thread.ts";
import { unlistUserSteps } from "./deletions/unlist-user.ts";

export function deletionSteps(context: StepsContext): DeletionStore {
  const { engine, codec } = context;
  const { deleting, sweeping } = tables;

  async function write(change: Write): Promise<void> {
    await engine.apply({ slot: slotOf(change.key), checks: [], writes: [change] });
  }

  return {
    planDeletion: (deletion) =>
      write({ write: "put", key: deleting.key, members: [[memberOf(deletion), deletion.atMs]], mode: "new" }),

    async plannedDeletions(limit) {
      const [found] = await engine.read([{ read: "range", key: deleting.key, limit }], { durable: false });
      return found.map(([member, atMs]) => deletionFrom(member, atMs));
    },

    endDeletion: (deletion) => write({ write: "take", key: deleting.key, members: [memberOf(deletion)] }),

    ...unlistThreadSteps(engine),
    ...unlistUserSteps(engine, codec),
    ...eraseSteps(context),

    async sweepPlace(slug) {
      const [[place = null]] = await engine.read([{ read: "fields", key: sweeping.key, fields: [slug] }]);
      return place;
    },

    setSweepPlace: (slug, place) =>
      write(
        place === null
          ? { write: "remove", key: sweeping.key, fields: [slug] }
          : { write: "set", key: sweeping.key, fields: [[slug, place]] },
      ),
  };
}

function memberOf({ kind, slug, id }: Deletion): string {
  return `${kind} ${slug} ${id}`;
}

function deletionFrom(member: string, atMs: number): Deletion {
  const [kind, slug = "", ...id] = member.split(" ");
  return { kind: kind === "user" ? "user" : "thread", slug, id: id.join(" "), atMs };
}
