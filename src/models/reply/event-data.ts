/** What one event's data is, or one line of it. */
export type EventData =
  | { type: "chunk"; json: unknown }
  /** The model has finished, and nothing more comes. */
  | { type: "done" }
  /** No chunk, and no part of one: `keepalive`, `ping`, an empty text. */
  | { type: "nothing" }
  /** The beginning of a chunk, or a broken one: text may be missing. */
  | { type: "broken"; error: unknown };

const DONE_EVENT: EventData = { type: "done" };
const NOTHING: EventData = { type: "nothing" };
/** Some servers write it in lower case, in quotes, or between spaces. */
const DONE = /^\s*["']?\[done\]/i;
/** A chunk is an object; Gemini sends an error as a list of one. */
const OPENING = /^\s*[[{]/;

/** Reads an event's data. What does not begin as a chunk does can bring no text. */
export function readEventData(data: string): EventData {
  if (!data.startsWith("{")) {
    if (DONE.test(data)) return DONE_EVENT;
    if (!OPENING.test(data)) return NOTHING;
  }
  try {
    return { type: "chunk", json: JSON.parse(data) };
  } catch (error) {
    return { type: "broken", error };
  }
}

/** Is it all of an event's data, so that another line begins the next event? */
export function standsAlone(data: string): boolean {
  return readEventData(data).type !== "broken";
}
