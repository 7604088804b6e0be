import { readLines } from "../client/read-lines.ts";
import { ServiceError } from "../client/requests.ts";
import { feedLine } from "../protocol/feed.ts";
import type { FeedLine } from "../protocol/feed.ts";
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
  let lastId: string | null = null;
  let isAwake = false;
  let wake = () => {};

  function take(line: FeedLine): void {
    if (line.type === "message") lastId = line.item.id;
    if (line.type === "reset") lastId = null;
    const text = elsewhere(line);
    if (text !== null) show(text);
  }

  async function read(): Promise<void> {
    while (!signal.aborted) {
      isAwake = false;
      const status = await readOnce(target, { after: lastId, take, signal });
      if (status === 404) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          // `wake` was called before the 404 arrived.
          if (isAwake) resolve();
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        // The thread is new: read it from its first item.
        lastId ??= "";
      } else await sleep(PAUSE_MS, signal);
    }
  }

  void read();
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

/** Resolves with the status when the feed has ended; null: it could not be reached, or broke off. */
async function readOnce(
  target: ChatTarget,
  { after, take, signal }: { after: string | null; take: (line: FeedLine) => void; signal: AbortSignal },
): Promise<number | null> {
  const { channel, userId, threadId } = target;
  const query = new URLSearchParams({ userId, channel, ...(after === null ? {} : { after }) });
  try {
    const path = `threads/${encodeURIComponent(threadId)}/events?${query.toString()}`;
    const response = await askOf(target, path, { signal });
    for await (const read of readLines<unknown>(response)) {
      // A line of an unknown type is ignored.
      const line = feedLine.safeParse(read).data;
      if (line && !signal.aborted) take(line);
    }
    return response.status;
  } catch (error) {
    return error instanceof ServiceError ? error.status : null;
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
