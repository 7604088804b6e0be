import { tellingsOf } from "../../domain/threads/tellings.ts";
import type { WebhookEvent, WebhookField } from "../../domain/channels/webhook.ts";
import type { Desk, Note } from "../../domain/threads/desk.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { DeskStore, ToldRef } from "../../store.ts";

/** A thread of a channel. */
export interface OfThread {
  uid: string;
  slug: string;
}

/** What becomes of a desk, and what of it is told to webhooks. */
export interface DeskChange {
  desk: Desk;
  note?: Note;
  event?: { type: WebhookEvent; messageId?: string; data: Record<string, unknown> };
}

/** `change`: called once more if somebody else was quicker; null: nothing is to change. Resolves to what is kept then. */
export type KeepDesk = (on: OfThread, change: (desk: Desk) => DeskChange | null) => Promise<Desk>;

const TRIES = 10;

/** Refusal("not-found"): the thread is deleted, or has no message yet. */
export function createKeepDesk({
  store,
  clock,
  newId,
  webhooks,
  told,
}: {
  store: DeskStore;
  clock: { now(): number };
  newId: () => string;
  webhooks: (slug: string) => readonly WebhookField[];
  told: (refs: readonly ToldRef[]) => void;
}): KeepDesk {
  return async ({ uid, slug }, change) => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await store.desk(uid);
      const changed = change(before);
      if (changed === null) return before;
      const { note, event } = changed;
      const atMs = clock.now();
      const desk = { ...changed.desk, rev: before.rev + 1 };
      const tells = event ? tellingsOf(webhooks(slug), [{ id: `msg_${newId()}`, atMs, ...event }]) : [];
      const kept = await store.keepDesk({ uid, slug, desk, ...(note ? { note } : {}), tells, atMs });
      if (kept.type === "not-found") throw new Refusal("not-found", "Unknown thread");
      if (kept.type === "changed") continue;
      if (kept.unqueued.length > 0) told(kept.unqueued);
      return desk;
    }
    throw new Refusal("unavailable", "Too many change this thread at once", 1);
  };
}
