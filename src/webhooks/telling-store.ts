import type { Store } from "../store.ts";
import type { Webhooks } from "./webhooks.ts";

/** The store; after a change that webhooks are told of, it passes the references of the events to them. Commits: threads do. */
export function tellingStore(store: Store, webhooks: Pick<Webhooks, "told" | "wake">): Store {
  return {
    ...store,
    async rate(rating) {
      const rated = await store.rate(rating);
      if (rated.type === "rated") webhooks.told(rated.unqueued);
      return rated;
    },
    async unlistThread(deletion, tells = []) {
      await store.unlistThread(deletion, tells);
      webhooks.told(refsOf({ slug: deletion.slug, tells }));
    },
    async unlistUser(deletion, tells = []) {
      const uids = await store.unlistUser(deletion, tells);
      webhooks.told(refsOf({ slug: deletion.slug, tells }));
      return uids;
    },
    async promote(promotion) {
      const outcome = await store.promote(promotion);
      if (promotion.tells && outcome === "done") webhooks.told(refsOf(promotion));
      return outcome;
    },
    async merge(merge) {
      const outcome = await store.merge(merge);
      if (merge.tells && outcome === "done") webhooks.told(refsOf(merge));
      return outcome;
    },
  };
}

function refsOf({ slug, tells = [] }: { slug: string; tells?: readonly { id: string; endpoint: string }[] }) {
  return tells.map(({ id, endpoint }) => ({ slug, endpoint, uid: null, nth: id }));
}
