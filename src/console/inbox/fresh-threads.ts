import { useEffect, useRef, useState } from "preact/hooks";
import type { ThreadEvents } from "../service/thread-events.ts";
import { tellFresh } from "../shell/title.ts";
import { chime, isChimeOn } from "./chime.ts";
import { isAnswerTo, isNews, wantOf } from "./inbox-state.ts";
import { isNotifyOn, notify } from "./notify.ts";

export interface FreshThreads {
  /** How many conversations are new to the reader. */
  fresh: number;
  /** Of conversations that the reader has taken: see Unread. */
  unread: ReadonlyMap<string, number>;
}

const NONE: ReadonlyMap<string, number> = new Map();

/**
 * What is new to the reader, in any room: conversations, and what visitors wrote to the reader, who has taken theirs. Both
 * show in the title, with a sound if wanted, and as a notification if allowed and the console has no focus. Opening the
 * inbox, or the conversation (`openId`), counts as seeing it.
 */
export function useFreshThreads(
  events: ThreadEvents,
  { reader, isInInbox, openId }: { reader: string; isInInbox: boolean; openId: string | null },
): FreshThreads {
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [unread, setUnread] = useState(NONE);
  const open = useRef(openId);
  open.current = openId;
  useEffect(() => {
    const sinceMs = Date.now();
    const known = new Map<string, string>();
    const updated = new Map<string, number>();
    return events.listen({
      changed(thread) {
        const { id, updatedAt } = thread;
        const isAnswer = isAnswerTo(reader, thread, updated.get(id) ?? sinceMs);
        const isUnread = isAnswer && !(open.current === id && document.hasFocus());
        const isNew = isNews(thread, { sinceMs, known });
        known.set(id, wantOf(thread));
        updated.set(id, updatedAt);
        if (!isNew && !isUnread) return;
        if (isChimeOn()) chime();
        if (!document.hasFocus() && isNotifyOn()) notify(thread);
        if (isNew) setFresh((before) => new Set([...before, id]));
        if (isUnread) setUnread((before) => new Map(before).set(id, (before.get(id) ?? 0) + 1));
      },
    });
  }, [events, reader]);
  useWhileLooked(isInInbox, () => setFresh((before) => (before.size === 0 ? before : new Set())));
  useWhileLooked(openId !== null, () =>
    setUnread((before) => {
      const id = openId ?? "";
      if (!before.has(id)) return before;
      const others = new Map(before);
      others.delete(id);
      return others;
    }),
  );
  useEffect(() => {
    tellFresh(fresh.size + unread.size);
    return () => tellFresh(0);
  }, [fresh, unread]);
  return { fresh: fresh.size, unread };
}

/** Calls `seen` when the reader is there, or comes back. */
function useWhileLooked(isShown: boolean, seen: () => void): void {
  const latest = useRef(seen);
  latest.current = seen;
  useEffect(() => {
    if (!isShown) return;
    const look = () => document.hasFocus() && latest.current();
    look();
    for (const event of LOOKS) addEventListener(event, look);
    return () => {
      for (const event of LOOKS) removeEventListener(event, look);
    };
  });
}

const LOOKS = ["focus", "pointerdown", "keydown"] as const;
