import type { VNode } from "preact";

/** Strokes on a 24-unit grid, in the colour of the surrounding text. */
const PATHS = {
  chat: "M21 12a8.5 8.5 0 0 1-12.4 7.6L3.5 21l1.4-4.6A8.5 8.5 0 1 1 21 12Z",
  close: "m6 6 12 12M18 6 6 18",
  down: "m6 9 6 6 6-6",
  send: "M12 19V5m-6 6 6-6 6 6",
  stop: "M7 7h10v10H7z",
  add: "M12 5v14M5 12h14",
  image: "M4 5h16v14H4zm0 11 5-5 4 4 3-3 4 4M15 9h.01",
  back: "m14 6-6 6 6 6",
  list: "M4 7h16M4 12h16M4 17h10",
  done: "m5 13 4 4 10-11",
  failed: "m7 7 10 10M17 7 7 17",
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): VNode {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" class="icon">
      <path d={PATHS[name]} />
    </svg>
  );
}
