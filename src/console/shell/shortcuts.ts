import { useLayoutEffect, useRef } from "preact/hooks";
import type { Place } from "./places.ts";
import { go } from "./route.ts";

/** How long after `g` the letter of a room is accepted. */
const SEQUENCE_MS = 1_500;

/** `g` and a room's letter, `/`, `?`: unless a field has the focus or a dialog is open. */
export function useShortcuts(shortcuts: {
  places: readonly Place[];
  onFind: () => void;
  onHelp: () => void;
}): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // Before anything is shown: the first key may come at once.
  useLayoutEffect(() => {
    let wentAt = -Infinity;
    const press = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || isTaken(event.target)) return;
      const { places, onFind, onHelp } = latest.current;
      const isSecond = event.timeStamp - wentAt < SEQUENCE_MS;
      wentAt = -Infinity;
      const place = isSecond ? places.find(({ letter }) => letter === event.key) : undefined;
      if (place) go(place.link);
      else if (event.key === "g") wentAt = event.timeStamp;
      else if (event.key === "/") onFind();
      else if (event.key === "?") onHelp();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** Keys of the room that is shown, by letter: none that stands for a room after `g`. */
export function useKeys(keys: Readonly<Record<string, (() => void) | null>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || isTaken(event.target)) return;
      const does = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : null;
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
