import type { Sight } from "../../operators/accounts/sight.ts";
import type { FeedLine, StateFeedLine } from "../../protocol/feed.ts";
import { nothingSeen, withSight } from "../machine/seen.ts";
import type { Seen } from "../machine/seen.ts";
import type { MessageView, ThreadState } from "../service/views.ts";

/** A line of a conversation's watch. */
export type WatchLine = Sight | FeedLine;

/** Everything that the console knows of a conversation. */
export interface TalkState {
  /** Ordered by id, each once. */
  messages: readonly MessageView[];
  /** null: unknown yet. */
  state: ThreadState | null;
  /** The operator who answers, or since when the visitor waits for one. */
  person: { name: string } | { sinceMs: number } | null;
  /** The operator who is typing. */
  writes: string | null;
  /** The active run whose reply is not in the history yet. */
  openRun: string | null;
  /** The machine, its runs, and the last run's lines. */
  seen: Seen;
  isDeleted: boolean;
}

export const NOTHING_SAID: TalkState = {
  messages: [],
  state: null,
  person: null,
  writes: null,
  openRun: null,
  seen: nothingSeen,
  isDeleted: false,
};

/** No typing signal came for some time. */
export function withQuiet(talk: TalkState): TalkState {
  return { ...talk, writes: null };
}

/** A page of the history, at either end. */
export function withHistory(talk: TalkState, items: readonly MessageView[]): TalkState {
  return { ...talk, messages: merged(talk.messages, items) };
}

export function withLine(talk: TalkState, line: WatchLine): TalkState {
  switch (line.type) {
    case "message": {
      const messages = merged(leftBy(line.item, talk.messages), [line.item]);
      if (line.item.role === "user") return { ...talk, messages };
      // The reply replaces what was shown while it was being written.
      const writes = line.item.author?.name === talk.writes ? null : talk.writes;
      return { ...talk, messages, openRun: null, writes };
    }
    case "state":
      return {
        ...talk,
        state: line.state,
        person: personOf(line),
        writes: null,
        openRun: "runId" in line ? line.runId : null,
      };
    case "deleted":
      return { ...NOTHING_SAID, isDeleted: true };
    case "typing":
      return { ...talk, writes: line.name };
    case "reset":
    case "ping":
      return talk;
    case "untouched":
    case "thread":
    case "runs":
    case "said":
    case "trouble":
    case "beat":
      return { ...talk, seen: withSight(talk.seen, line) };
    // A newer service may send other types.
    default:
      return talk;
  }
}

function personOf(line: StateFeedLine): TalkState["person"] {
  if ("with" in line) return { name: line.with };
  return "waitingSince" in line ? { sinceMs: line.waitingSince } : null;
}

/** The reply that is being written: its text and its steps; null if there is none. */
export function openReply({ openRun, seen }: TalkState): Seen["said"] | null {
  return openRun !== null && seen.said.runId === openRun ? seen.said : null;
}

/** Without what the branch leaves out that the item begins. */
function leftBy({ replaces, id }: MessageView, known: readonly MessageView[]): readonly MessageView[] {
  if (replaces === undefined) return known;
  return known.filter((one) => Number(one.id) < Number(replaces) || Number(one.id) >= Number(id));
}

function merged(known: readonly MessageView[], items: readonly MessageView[]): readonly MessageView[] {
  const byId = new Map([...known, ...items].map((item) => [item.id, item]));
  return [...byId.values()].sort((a, b) => Number(a.id) - Number(b.id));
}
