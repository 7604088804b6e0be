import type { EventLine } from "../../protocol/feed.ts";
import type { Api } from "./api.ts";
import { keepOpen } from "./keep-open.ts";
import { Problem, messageOf } from "./problem.ts";
import type { PlacedThread } from "./views.ts";

export interface ThreadListener {
  changed(thread: PlacedThread): void;
  /** Changes were missed: what is shown is to be read anew. */
  missed?(): void;
}

/** Changes of conversations, told to all who listen over one connection. */
export interface ThreadEvents {
  /** Returns how to stop listening. */
  listen(listener: ThreadListener): () => void;
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
  const listeners = new Set<ThreadListener>();
  const noteListeners = new Set<(note: string | null) => void>();
  let note: string | null = "Connecting";
  const say = (text: string | null) => {
    note = text;
    for (const listener of noteListeners) listener(text);
  };
  keepOpen<EventLine>(api, {
    path: "/events",
    after: null,
    signal,
    onConnected: (is) => say(is ? null : "The connection is gone; trying again."),
    onLine(line) {
      for (const listener of listeners) {
        if (line.type === "thread") listener.changed(line);
        else if (line.type === "reset") listener.missed?.();
      }
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

function noteOf(error: unknown): string {
  const isMissing = error instanceof Problem && error.status === 404;
  return `Changes do not come by themselves${isMissing ? "" : `: ${messageOf(error)}`}`;
}
