import { MOST_SHOWN } from "../../domain/threads/answerer-change.ts";
import type { AnswererChange } from "../../domain/threads/answerer-change.ts";
import { MOST_RATINGS } from "../../domain/threads/desk.ts";
import type { Desk, HandOffRating } from "../../domain/threads/desk.ts";
import type { Message } from "../../domain/threads/message.ts";
import { Refusal } from "../../domain/refusal.ts";
import { threadHost } from "../../charts/charts.ts";
import { UnreadableRecord } from "../../store.ts";
import type { Store } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { createKeepDesk } from "./keep-desk.ts";
import type { KeepDesk, OfThread } from "./keep-desk.ts";

/** What is kept beside conversations (domain/threads/desk.ts), and what a visitor may leave there. */
export interface DeskOfThreads {
  keep: KeepDesk;
  /** The latest changes of who answers, MOST_SHOWN at most, oldest first. */
  changes(uid: string): Promise<AnswererChange[]>;
  /** All of them, for an export. */
  everyChange(uid: string): Promise<AnswererChange[]>;
  /** Where the visitor can be written to, since nobody is there now. */
  leaveAddress(on: OfThread, left: { address: string; reason: string | null }): Promise<void>;
  /** What the visitor thinks of the hand-off that ended last; again: replaces it. Refusal("conflict"): none has ended. */
  rate(on: OfThread, said: { score: number; comment?: string }): Promise<void>;
  /** A page has shown the history up to this item. */
  shown(on: OfThread, item: number): Promise<void>;
  /** Tells webhooks that no page has shown this reply, once. */
  tellUnread(on: OfThread, reply: Pick<Message, "id">): Promise<void>;
}

/** The hand-off that ended last, if a person has helped in it. */
export function endedLast(changes: readonly AnswererChange[]): AnswererChange | null {
  const last = changes.at(-1);
  return last?.by !== undefined && (last.how === "closed" || last.how === "returned") ? last : null;
}

/** What was said of a hand-off; null: nothing. */
export function ratingOf(desk: Desk, ended: AnswererChange | null): HandOffRating | null {
  return desk.ratings?.find(({ epoch }) => epoch === ended?.epoch) ?? null;
}

/** 0 if it cannot be read: then the thread goes on from there (threads/recover/mend.ts). */
function epochOf(snapshot: string): number {
  try {
    return threadHost.thaw(snapshot).context.epoch;
  } catch (error) {
    if (error instanceof UnreadableRecord) return 0;
    throw error;
  }
}

export function createDesk({
  store,
  clock,
  newId,
  observer,
  webhooks = () => [],
  told = () => {},
}: Pick<ThreadDependencies, "clock" | "newId" | "observer" | "webhooks" | "told"> & {
  store: Pick<Store, "desk" | "notes" | "keepDesk" | "load" | "answererChanges">;
}): DeskOfThreads {
  const keep = createKeepDesk({ store, clock, newId, webhooks, told });

  async function presentEpoch(uid: string): Promise<number> {
    const record = await store.load(uid, 1, "active");
    return record?.snapshot ? epochOf(record.snapshot) : 0;
  }

  const changes = async (uid: string) => store.answererChanges(uid, await presentEpoch(uid));

  return {
    keep,
    changes,

    async everyChange(uid) {
      const all: AnswererChange[] = [];
      for (let epoch = await presentEpoch(uid); epoch > 0; epoch -= MOST_SHOWN)
        all.unshift(...(await store.answererChanges(uid, epoch)));
      return all;
    },

    async leaveAddress(on, { address, reason }) {
      await keep(on, (desk) => {
        if (desk.address === address) return null;
        const data = { address, ...(reason === null ? {} : { reason }) };
        return { desk: { ...desk, address }, event: { type: "handoff.missed", data } };
      });
    },

    async rate(on, { score, comment }) {
      const ended = endedLast(await changes(on.uid));
      if (ended === null) throw new Refusal("conflict", "No person has ended a hand-off here");
      const { epoch, by, queue } = ended;
      const about = {
        score,
        ...(comment === undefined ? {} : { comment }),
        ...(by === undefined ? {} : { by }),
        ...(queue === undefined ? {} : { queue }),
      };
      const rating = { epoch, ...about, atMs: clock.now() };
      let before: HandOffRating | null = null;
      let isNew = true;
      await keep(on, (desk) => {
        before = ratingOf(desk, ended);
        isNew = before?.score !== score || before.comment !== comment;
        if (!isNew) return null;
        const others = (desk.ratings ?? []).filter((one) => one.epoch !== epoch);
        const ratings = [...others, rating].slice(-MOST_RATINGS);
        return { desk: { ...desk, ratings }, event: { type: "handoff.rated", data: { epoch, ...about } } };
      });
      if (isNew) observer.handOffRated?.({ slug: on.slug, before, rating });
    },

    async shown(on, item) {
      await keep(on, (desk) => ((desk.shownTo ?? 0) >= item ? null : { desk: { ...desk, shownTo: item } }));
    },

    async tellUnread(on, { id }) {
      await keep(on, (desk) => {
        const item = Number(id);
        if ((desk.shownTo ?? 0) >= item || desk.toldUnread === item) return null;
        const data = desk.address === undefined ? {} : { address: desk.address };
        return {
          desk: { ...desk, toldUnread: item },
          event: { type: "reply.unread", messageId: id, data },
        };
      });
    },
  };
}
