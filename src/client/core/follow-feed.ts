import { follow } from "./follow.ts";
import type { Followed } from "./follow.ts";

/** A feed, and behind which line of it the reader is; null: it is told only what is new. */
export interface FollowedFeed extends Pick<Followed, "comeBack"> {
  after: string | null;
  open(this: void, after: string | null): ReturnType<Followed["open"]>;
}

/** The lines of a feed over as many connections as it takes, of which each goes on behind the last line. */
export async function* followFeed({ after, open, comeBack }: FollowedFeed): AsyncGenerator<unknown> {
  let place = after;
  for await (const line of follow({ open: () => open(place), comeBack })) {
    place = placeOf(line) ?? place;
    yield line;
  }
}

/** What a line of a feed is named by: a thread's item by its id, a line of the operators' feed by its cursor. */
function placeOf(line: unknown): string | null {
  // A cast: any value may be asked for its fields.
  const { item, cursor } = Object(line) as { item?: { id?: unknown }; cursor?: unknown };
  const place = cursor ?? item?.id;
  return typeof place === "string" ? place : null;
}
