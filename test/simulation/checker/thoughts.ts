import { HAND_OFF } from "../channels.ts";
import type { Thought } from "../instance/agent.ts";
import { chunkText } from "../instance/agent.ts";
import { RUN_MAX_REPLY_CHARS } from "../instance/instance.ts";

/** What models wrote, and what a text must have been made of. */
export interface Thoughts {
  add(thought: Thought): void;
  /**
   * Is the text made of what models wrote for one run, in its order, each thought but the last one whole? As long as a reply
   * may be, it may end within a piece; so may the rest of such a reply (`isRestOfLongest`). What is wrong with it; null:
   * nothing. `runId` null: any one run.
   */
  faultOf(text: string, runId: string | null, isRestOfLongest?: boolean): string | null;
  /** The last thought of a text that has one. */
  lastOf(text: string): Thought | undefined;
}

const CHUNK = /\[(\d+)\.(\d+)\][^[]*/g;

export function createThoughts(): Thoughts {
  const thoughts = new Map<number, Thought>();

  function faultOf(told: string, runId: string | null, isRestOfLongest = false): string | null {
    const text = withoutHandOff(told);
    const isLongest = isRestOfLongest || text.length === RUN_MAX_REPLY_CHARS;
    let expected = runId;
    let last: Thought | null = null;
    let next = 0;
    let length = 0;
    for (const match of text.matchAll(CHUNK)) {
      const thought = thoughts.get(Number(match[1]));
      if (match.index !== length || !thought) return `it holds what no model wrote: ${shown(match[0])}`;
      length += match[0].length;
      expected ??= thought.runId;
      if (thought.runId !== expected) return `thought ${thought.nth} is of another run`;
      if (thought !== last) {
        if (last && (!last.isWhole || next < last.chunks.length || thought.nth < last.nth)) {
          return `thought ${thought.nth} follows a piece of thought ${last.nth}`;
        }
        next = 0;
        last = thought;
      }
      const isLastThatFits = isLongest && length === text.length;
      const chunk = thought.chunks[next] ?? "";
      const isChunk = isLastThatFits ? chunk.startsWith(match[0]) : chunk === match[0];
      if (Number(match[2]) !== next || !isChunk) {
        return `${shown(match[0])} stands where ${chunkText(thought.nth, next, "…")} should`;
      }
      next++;
    }
    const rest = text.slice(length);
    const isBeginning = isLongest && /^\[\d*\.?\d*$/.test(rest);
    return rest === "" || isBeginning ? null : `it holds what no model wrote: ${shown(rest)}`;
  }

  return {
    add: (thought) => void thoughts.set(thought.nth, thought),
    faultOf,
    lastOf: (text) => thoughts.get(Number([...withoutHandOff(text).matchAll(CHUNK)].at(-1)?.[1])),
  };
}

/** Without the words with which the service hands over for the model. */
function withoutHandOff(text: string): string {
  const bare = text.endsWith(HAND_OFF.message) ? text.slice(0, -HAND_OFF.message.length) : text;
  return bare.endsWith("\n\n") ? bare.slice(0, -2) : bare;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
