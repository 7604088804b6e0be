import { forget } from "../actors/forget.ts";
import { systemClock } from "../clock.ts";
import { holderOf } from "../domain/fence.ts";
import type { Forgets } from "../operators/forgetting.ts";
import type { Deletion, Store } from "../store.ts";
import { deletedTellings } from "../webhooks/deleted.ts";

/**
 * Deletes while a service is running, or without one. A service later repeats each deletion as its own: its plan stays in
 * the store until then.
 */
export function forgettingIn(store: Store): Forgets {
  const begin = async (kind: Deletion["kind"], slug: string, id: string) => {
    const deletion = { kind, slug, id, atMs: systemClock.now() };
    const webhooks = (await store.channel(slug))?.webhooks ?? [];
    await forget(
      store,
      deletion,
      ({ uid, fence, watchers }) => {
        if (fence !== null) store.send(holderOf(fence), { type: "deleted", uid });
        for (const processId of watchers) store.send(processId, { type: "changed", uid });
      },
      (deleted) => deletedTellings(store, webhooks, deleted),
    );
  };
  return {
    thread: (slug, uid) => begin("thread", slug, uid),
    user: (slug, userId) => begin("user", slug, userId),
  };
}
