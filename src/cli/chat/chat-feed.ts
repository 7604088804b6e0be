import { followFeed } from "../../client/core/follow-feed.ts";
import { pause } from "../../client/core/pause.ts";
import { ServiceError } from "../../client/requests.ts";
import { feedLine } from "../../protocol/feed.ts";
import type { FeedLine } from "../../protocol/feed.ts";
import { askOf } from "./chat-client.ts";
import type { ChatTarget } from "./chat-client.ts";

/** Reads the thread's feed while `chat` is open, and shows messages from elsewhere. */
export interface ChatFeed {
  /** Registers a message of this chat: the feed shows neither it nor its reply, which are on the screen already. */
  said(clientMessageId: string): void;
  /** Tries again after a 404: the thread may exist now. */
  wake(): void;
}

const PAUSE_MS = 1_000;

export function followThread(
  target: ChatTarget,
  { show, signal }: { show: (text: string) => void; signal: AbortSignal },
): ChatFeed {
  const own = new Set<string>();
  const elsewhere = createElsewhere(own);
  const { channel, userId, threadId } = target;
  let first: { after?: string } = {};
  let isAwake = false;
  let wake = () => {};

  const lines = followFeed({
    after: null,
    async open(after) {
      isAwake = false;
      const query = new URLSearchParams({ userId, channel, ...(after === null ? first : { after }) });
      const path = `threads/${encodeURIComponent(threadId)}/events?${query.toString()}`;
      return (await askOf(target, path, { signal })).body;
    },
    async comeBack(fault) {
      if (signal.aborted) throw fault;
      if (!(fault instanceof ServiceError && fault.status === 404)) return pause(PAUSE_MS, signal);
      await new Promise<void>((resolve) => {
        wake = resolve;
        // `wake` was called before the 404 arrived.
        if (isAwake) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      // The thread is new: read it from its first item.
      first = { after: "" };
    },
  });

  async function read(): Promise<void> {
    for await (const each of lines) {
      // A line of an unknown type is ignored.
      const line = feedLine.safeParse(each).data;
      const text = line && !signal.aborted ? elsewhere(line) : null;
      if (text !== null) show(text);
    }
  }

  read().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    said: (clientMessageId) => void own.add(clientMessageId),
    wake() {
      isAwake = true;
      wake();
    },
  };
}

/** The text to show for a line of the feed; null: nothing, or this chat has shown it already. */
export function createElsewhere(own: ReadonlySet<string>): (line: FeedLine) => string | null {
  // A reply follows its message, so it belongs to the chat that sent the message before it.
  let isOwnReply = false;
  let isWithPerson = false;
  return (line) => {
    if (line.type === "state") {
      const told = stateText(line, isWithPerson);
      isWithPerson = line.state === "waiting_for_person" || line.state === "with_person";
      return told;
    }
    if (line.type === "reset")
      return "More was said elsewhere than is shown here: chat-agent threads show prints it.";
    if (line.type !== "message") return null;
    const { role, content, clientMessageId, author } = line.item;
    if (author) return `[${author.name}] ${content}`;
    if (role === "assistant") return isOwnReply ? null : content;
    isOwnReply = clientMessageId !== undefined && own.has(clientMessageId);
    return isOwnReply ? null : `[elsewhere] ${content}`;
  };
}

/** Who answers now; null if that has not changed. */
function stateText(line: Extract<FeedLine, { type: "state" }>, wasWithPerson: boolean): string | null {
  switch (line.state) {
    case "waiting_for_person":
      return "[waiting for a person]";
    case "with_person":
      return `[${line.with} answers you now]`;
    case "idle":
      return wasWithPerson ? "[the assistant answers again]" : null;
    case "running":
    case "awaiting":
      return null;
  }
}
