import { useEffect, useState } from "preact/hooks";
import type { ThreadEvents } from "../service/thread-events.ts";
import type { PlacedThread } from "../service/views.ts";
import { tellFresh } from "../shell/title.ts";
import { chime, isChimeOn } from "./chime.ts";
import { isNews } from "./inbox-state.ts";
import { isNotifyOn, notify } from "./notify.ts";

/**
 * How many conversations are new to the reader, in any room. They show in the title, with a sound if wanted, and as a
 * notification if allowed and the console has no focus. Opening the inbox counts as seeing them.
 */
export function useFreshThreads(events: ThreadEvents, isInInbox: boolean): number {
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const sinceMs = Date.now();
    const known = new Map<string, PlacedThread["state"]>();
    return events.listen({
      changed(thread) {
        const isNew = isNews(thread, { sinceMs, known });
        known.set(thread.id, thread.state);
        if (!isNew) return;
        if (isChimeOn()) chime();
        if (!document.hasFocus() && isNotifyOn()) notify(thread);
        setFresh((before) => new Set([...before, thread.id]));
      },
    });
  }, [events]);
  useEffect(() => {
    if (!isInInbox) return;
    const look = () => document.hasFocus() && setFresh((before) => (before.size === 0 ? before : new Set()));
    look();
    addEventListener("focus", look);
    addEventListener("pointerdown", look);
    addEventListener("keydown", look);
    return () => {
      removeEventListener("focus", look);
      removeEventListener("pointerdown", look);
      removeEventListener("keydown", look);
    };
  }, [isInInbox]);
  useEffect(() => {
    tellFresh(fresh.size);
    return () => tellFresh(0);
  }, [fresh]);
  return fresh.size;
}
