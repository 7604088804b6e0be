import { useLayoutEffect, useRef } from "preact/hooks";
import type { Place } from "./places.ts";
import { go } from "./route.ts";

/** How long after `g` the letter of a room is accepted. */
const SEQUENCE_MS = 1_500;

/** `g` and a room's letter, `/`, `?`. */
export function useShortcuts({
  places,
  onFind,
  onHelp,
}: {
  places: readonly Place[];
  onFind: () => void;
  onHelp: () => void;
}): void {
  const wentAt = useRef(-Infinity);
  useKeyPress(({ key, timeStamp }) => {
    const isSecond = timeStamp - wentAt.current < SEQUENCE_MS;
    wentAt.current = key === "g" ? timeStamp : -Infinity;
    const place = isSecond ? places.find(({ letter }) => letter === key) : undefined;
    if (place) return () => go(place.link);
    if (key === "/") return onFind;
    if (key === "?") return onHelp;
    return key === "g" ? () => {} : null;
  });
}

/** Keys of the room that is shown, by letter: none that stands for a room after `g`. */
export function useKeys(keys: Readonly<Record<string, (() => void) | null>>): void {
  useKeyPress(({ key }) => (Object.hasOwn(keys, key) ? (keys[key] ?? null) : null));
}

/** What a key does, unless a field has the focus or a dialog is open; null: nothing of ours. */
function useKeyPress(doneBy: (event: KeyboardEvent) => (() => void) | null): void {
  const latest = useRef(doneBy);
  latest.current = doneBy;
  // Before anything is shown: the first key may come at once.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || isTaken(event.target)) return;
      const does = latest.current(event);
      if (!does) return;
      event.preventDefault();
      does();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName) || target.closest("dialog") !== null;
}
