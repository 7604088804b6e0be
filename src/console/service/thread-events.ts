import type { Api } from "./api.ts";
import { keepOpen } from "./live.ts";
import { Problem, messageOf } from "./problem.ts";
import type { PlacedThread } from "./views.ts";

/** A line of /events: a thread as it is now, or a sign of life. */
type EventLine =
  | (Partial<PlacedThread> & { type: "thread"; cursor: string; channel: string; id: string })
  | { type: "ping" };

/** Changes of conversations, told to all who listen over one connection. */
export interface ThreadEvents {
  /** Returns how to stop listening. */
  listen(listener: (thread: PlacedThread) => void): () => void;
  /** Called at once, and with each change: null: changes come as they happen; else why not. */
  onNote(listener: (note: string | null) => void): () => void;
}

export const NO_EVENTS: ThreadEvents = {
  listen: () => () => {},
  onNote(listener) {
    listener("Your role does not follow changes: open the inbox anew to see them.");
    return () => {};
  },
};

/** Follows them until the signal ends it. */
export function followThreads(api: Api, signal: AbortSignal): ThreadEvents {
  const listeners = new Set<(thread: PlacedThread) => void>();
  const noteListeners = new Set<(note: string | null) => void>();
  let note: string | null = "Connecting";
  let cursor: string | null = null;
  const say = (text: string | null) => {
    note = text;
    for (const listener of noteListeners) listener(text);
  };
  keepOpen<EventLine>(api, {
    path: "/events",
    query: () => ({ after: cursor }),
    signal,
    onConnected: (is) => say(is ? null : "The connection is gone; trying again."),
    onLine(line) {
      if (line.type !== "thread") return;
      cursor = line.cursor;
      const thread = threadOf(line);
      if (thread) for (const listener of listeners) listener(thread);
    },
  }).catch((error: unknown) => say(noteOf(error)));
  return {
    listen: (listener) => added(listeners, listener),
    onNote(listener) {
      listener(note);
      return added(noteListeners, listener);
    },
  };
}

function added<Listener>(all: Set<Listener>, one: Listener): () => void {
  all.add(one);
  return () => void all.delete(one);
}

function threadOf(line: Extract<EventLine, { type: "thread" }>): PlacedThread | null {
  const { channel, id, state } = line;
  if (state === undefined) return null;
  const { threadId = id, userId = "", updatedAt = Date.now(), createdAt = updatedAt, messages } = line;
  const known = { channel, id, threadId, userId, state, createdAt, updatedAt };
  return messages === undefined ? known : { ...known, messages };
}

function noteOf(error: unknown): string {
  const isMissing = error instanceof Problem && error.status === 404;
  return `Changes do not come by themselves${isMissing ? "" : `: ${messageOf(error)}`}`;
}
