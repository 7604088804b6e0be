import { cutText } from "../../../machines/line.ts";

/** Names the tools of a catalog that can never be offered, so that the page's author finds out. */
export const DROPPED_TOOLS_HEADER = "x-dropped-tools";

/** Header space is limited: at most so many names, each cut to so many characters. */
const NAMES = 20;
const NAME_CHARS = 64;

/** Percent-encoded names, separated by commas; the names beyond the limit are counted: `+3`. */
export function droppedToolsHeader(dropped: readonly string[]): Record<string, string> {
  if (dropped.length === 0) return {};
  const named = dropped.slice(0, NAMES).map((name) => encodeURIComponent(cutText(name, NAME_CHARS)));
  const more = dropped.length > NAMES ? [`+${dropped.length - NAMES}`] : [];
  return { [DROPPED_TOOLS_HEADER]: [...named, ...more].join(", ") };
}
