import type { FeedLine, FeedState } from "../../../src/threads/feeds/feed-lines.ts";
import type { Feed } from "../../../src/threads/feeds/feed.ts";

/** A client of feeds, which comes back with the last item that it knows. */
export interface FeedClient {
  readonly lines: FeedLine[];
  readonly ids: string[];
  readonly isEnded: boolean;
  /** The last item that it knows; empty before the first. */
  lastId(): string;
  lastState(): FeedState | undefined;
  read(feed: Feed): void;
  /** Takes nothing more, and is told that it has; or goes on. */
  setReading(isReading: boolean): void;
}

export function createFeedClient(): FeedClient {
  const lines: FeedLine[] = [];
  const ids: string[] = [];
  let isEnded = false;
  let isReading = true;
  let drained: (() => void)[] = [];

  return {
    lines,
    ids,
    get isEnded() {
      return isEnded;
    },
    lastId: () => ids.at(-1) ?? "",
    lastState() {
      const line = lines.findLast(({ type }) => type === "state");
      return line?.type === "state" ? line : undefined;
    },
    read(feed) {
      isEnded = false;
      feed.read({
        write(more) {
          lines.push(...more);
          for (const line of more) if (line.type === "message") ids.push(line.message.id);
        },
        onDrained(callback) {
          if (isReading) setImmediate(callback);
          else drained.push(callback);
        },
        end: () => void (isEnded = true),
      });
    },
    setReading(now) {
      isReading = now;
      if (!isReading) return;
      const waiting = drained;
      drained = [];
      for (const callback of waiting) setImmediate(callback);
    },
  };
}

/** `message 1`, `running`, `idle`, `reset`. */
export function shapeOf(lines: readonly FeedLine[]): string[] {
  return lines.map((line) => {
    if (line.type === "message") return `${line.message.role} ${line.message.id}`;
    return line.type === "state" ? line.state : line.type;
  });
}
