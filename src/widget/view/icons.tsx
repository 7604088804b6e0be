import type { VNode } from "preact";

/** An icon of one path on a 24-unit grid: strokes in the colour of the surrounding text. */
export function Icon({ path }: { path: string }): VNode {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" class="icon">
      <path d={path} />
    </svg>
  );
}

/* Constants, so that each of the two files has those that it shows. */
export const CHAT = "M21 12a8.5 8.5 0 0 1-12.4 7.6L3.5 21l1.4-4.6A8.5 8.5 0 1 1 21 12Z";
export const CLOSE = "m6 6 12 12M18 6 6 18";
export const DOWN = "m6 9 6 6 6-6";
export const SEND = "M12 19V5m-6 6 6-6 6 6";
export const STOP = "M7 7h10v10H7z";
export const ADD = "M12 5v14M5 12h14";
export const IMAGE = "M4 5h16v14H4zm0 11 5-5 4 4 3-3 4 4M15 9h.01";
export const BACK = "m14 6-6 6 6 6";
export const LIST = "M4 7h16M4 12h16M4 17h10";
export const DONE = "m5 13 4 4 10-11";
export const FAILED = "m7 7 10 10M17 7 7 17";
export const BIN = "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13";
export const PERSON = "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 8c.6-4 3.3-5.5 7-5.5s6.4 1.5 7 5.5";
export const LARGER = "M14 4h6v6m0-6-7 7M10 20H4v-6m0 6 7-7";
export const SMALLER = "M20 4l-7 7m0-6v6h6M4 20l7-7m0 6v-6H5";
export const NEXT = "m10 6 6 6-6 6";
export const CLIP =
  "m20 11.5-8 8a5 5 0 0 1-7-7l8.5-8.5a3.4 3.4 0 0 1 4.8 4.8L9.8 17.3a1.7 1.7 0 0 1-2.4-2.4l7.6-7.6";
export const PAGE = "M6 3h8l5 5v13H6zM14 3v5h5M9 13h7M9 17h5";
export const MICROPHONE = "M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3Zm-6-3a6 6 0 0 0 12 0M12 18v3";
export const SEARCH = "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 5 5";
export const AGAIN = "M5 12a7 7 0 1 0 2.2-5.1M7 3v4h4";
export const COPY = "M9 9h10v11H9zM5 15V4h10";
export const EDIT = "M4 20l1-4L16 5l3 3L8 19z";
/** A hand with its thumb up. */
export const HAND =
  "M7 11v9H4v-9zm0 0 4-8a2 2 0 0 1 2 2v4h6a1.6 1.6 0 0 1 1.6 2l-1.7 7.6a1.6 1.6 0 0 1-1.6 1.4H7";
