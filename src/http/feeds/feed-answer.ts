import type { Feed } from "../../threads/feeds/feed.ts";
import type { FeedLine } from "../../threads/feeds/feed-lines.ts";
import type { HttpAnswer, Outlet } from "../../listener.ts";
import { feedLine } from "../../protocol/feed.ts";
import type { FeedLine as ShownLine } from "../../protocol/feed.ts";
import { EXAMPLE_PAGE, itemOf } from "../history-page.ts";
import type { AnswerDocumentation } from "../route.ts";
import { encodeObjects } from "../stream/ndjson.ts";

export const feedFields = {
  after: {
    description:
      "The id of the last item that is known: those behind it come first. Empty: from the first item on. Without it: only what is new",
    example: "2",
  },
} as const;

export const documentedFeed: AnswerDocumentation = {
  description: "The feed. It has no closing line: come back with the id of the last item",
  headers: {},
  body: {
    type: "application/x-ndjson",
    schema: feedLine,
    example: { type: "message", item: EXAMPLE_PAGE.items[1] },
  },
};

/** Not compressed: a compressor holds 81 KB, and a feed is idle most of the time. */
export const FEED_HEADERS = {
  "content-type": "application/x-ndjson",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/**
 * Ends a feed: a listener may have sent the space before a next line, and a body that ends in a space looks to some readers
 * as if it had one line more.
 */
const PING: readonly FeedLine[] = [{ type: "ping" }];

/**
 * A feed as an answer that stays open. `onOver`: it ended, or its reader left. `onOpen`: gets its outlet, for further
 * lines.
 */
export function feedAnswer(
  feed: Feed,
  onOver: () => void = () => {},
  onOpen: (outlet: Outlet) => void = () => {},
): HttpAnswer {
  return {
    status: 200,
    headers: FEED_HEADERS,
    stream(outlet) {
      onOpen(outlet);
      outlet.onGone(() => {
        feed.leave();
        onOver();
      });
      let isDeleted = false;
      feed.read({
        write(lines) {
          isDeleted = lines.at(-1)?.type === "deleted";
          outlet.write(encoded(lines));
        },
        onDrained: (callback) => outlet.onDrained(callback),
        end() {
          onOver();
          outlet.end(isDeleted ? undefined : encoded(PING));
        },
      });
    },
  };
}

/** Lines that go to all readers of a thread are encoded once. */
const texts = new WeakMap<readonly FeedLine[], string>();

function encoded(lines: readonly FeedLine[]): string {
  const known = texts.get(lines);
  if (known !== undefined) return known;
  const text = encodeObjects(lines.map(shownLine));
  texts.set(lines, text);
  return text;
}

function shownLine(line: FeedLine): ShownLine {
  if (line.type !== "message") return line;
  const { attachments } = line.message;
  const item = itemOf(
    line.message,
    attachments?.map(({ url }) => url ?? null),
  );
  return { type: "message", item };
}
