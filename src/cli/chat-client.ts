import { isTerminal } from "../../machines/line.ts";
import type { Line, TerminalLine } from "../../machines/line.ts";
import { codeOf } from "../errors.ts";
import { widgetLine } from "../http/reference/line-schemas.ts";
import type { Secret } from "../secret.ts";
import { CannotDo } from "./terminal.ts";

/** Whose conversation, and where: the fields of the server API's messages. */
export interface Conversation {
  /** The service's base address. */
  url: string;
  key: Secret;
  channel: string;
  userId: string;
  threadId: string;
}

/** A cancel is asked for on the way out, and does not hold anybody up. */
const CANCEL_WITHIN_MS = 3_000;

/**
 * POST /v1/messages: gives every line as it comes, and answers the terminal one; null where the connection was cut
 * before it. Throws CannotDo where the service cannot be reached or says no.
 */
export async function sendMessage(
  conversation: Conversation,
  text: string,
  onLine: (line: Line) => void,
  signal: AbortSignal,
): Promise<TerminalLine | null> {
  const { channel, userId, threadId } = conversation;
  const response = await post(conversation, "/v1/messages", { channel, userId, threadId, text }, signal);
  if (response.status !== 200) throw new CannotDo(await refusalOf(response, conversation));
  if (response.body === null) return null;

  const decoder = new TextDecoder();
  let unread = "";
  try {
    for await (const chunk of response.body) {
      unread += decoder.decode(chunk, { stream: true });
      const lines = unread.split("\n");
      unread = lines.pop() ?? "";
      for (const text of lines) {
        if (text === "") continue;
        // A line of another kind is none of those that this client can show.
        const line = widgetLine.safeParse(JSON.parse(text)).data;
        if (line === undefined) continue;
        onLine(line);
        if (isTerminal(line)) return line;
      }
    }
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new CannotDo(`Cannot read the reply: ${conversation.url} does not speak this API`);
    }
    return null;
  }
  return null;
}

/** POST /v1/messages/cancel: stops the thread's active run. Says nothing where that fails. */
export async function cancelRun(conversation: Conversation): Promise<void> {
  const { channel, userId, threadId } = conversation;
  try {
    await post(
      conversation,
      "/v1/messages/cancel",
      { channel, userId, threadId },
      AbortSignal.timeout(CANCEL_WITHIN_MS),
    );
  } catch {
    // On the way out: the run ends by its own limits.
  }
}

async function post(conversation: Conversation, path: string, body: object, signal: AbortSignal) {
  const { url, key } = conversation;
  try {
    return await fetch(new URL(path, url), {
      method: "POST",
      headers: { authorization: `Bearer ${key.reveal()}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    const code = error instanceof Error ? codeOf(error.cause) : null;
    throw new CannotDo(`Cannot reach ${url}${code === null ? "" : ` (${code})`}: is the service running?`);
  }
}

async function refusalOf(response: Response, { url, channel, userId }: Conversation): Promise<string> {
  const text = (await response.text()).trim();
  switch (response.status) {
    case 401:
      return `Cannot talk to ${url}: it refuses the key; see --key`;
    case 403:
      return `Cannot talk in channel ${channel}: user ${userId} is not allowed`;
    case 404:
      return `Cannot talk in channel ${channel}: there is none of that slug`;
    case 429:
      return "Cannot send the message: too many wait already; try again in a moment";
    case 503:
      return "Cannot send the message: the service cannot reach its store";
    default:
      return `Cannot send the message: the service answered ${response.status}${text === "" ? "" : ` ${text}`}`;
  }
}
