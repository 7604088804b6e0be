import { isTerminal } from "../../machines/line.ts";
import type { Line, TerminalLine } from "../../machines/line.ts";
import { codeOf } from "../errors.ts";
import { widgetLine } from "../http/reference/line-schemas.ts";
import type { Secret } from "../secret.ts";
import { CannotDo } from "./terminal.ts";

/** Whose conversation, and where: the fields of the server API's messages. */
export interface ChatTarget {
  /** The service's base address, which may have a path. */
  url: string;
  key: Secret;
  channel: string;
  userId: string;
  threadId: string;
}

/** A cancel is sent on the way out, and must not delay it. */
const CANCEL_WITHIN_MS = 3_000;

/**
 * POST /v1/messages: passes every line on as it comes, and returns the terminal one; null if the connection was cut
 * before it. Throws CannotDo if the service cannot be reached or refuses.
 */
export async function sendMessage(
  target: ChatTarget,
  { text, clientMessageId }: { text: string; clientMessageId: string },
  onLine: (line: Line) => void,
  signal: AbortSignal,
): Promise<TerminalLine | null> {
  const { channel, userId, threadId } = target;
  const body = { channel, userId, threadId, text, clientMessageId };
  const response = await post(target, "/v1/messages", body, signal);
  if (response.status !== 200) throw new CannotDo(await refusalOf(response, target));
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
        // A line of another kind is ignored.
        const line = widgetLine.safeParse(JSON.parse(text)).data;
        if (line === undefined) continue;
        onLine(line);
        if (isTerminal(line)) return line;
      }
    }
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new CannotDo(`Cannot read the reply: ${target.url} does not speak this API`);
    }
    return null;
  }
  return null;
}

/** POST /v1/messages/cancel: stops the thread's active run. False where the service did not confirm it. */
export async function cancelRun(target: ChatTarget): Promise<boolean> {
  const { channel, userId, threadId } = target;
  try {
    const response = await post(
      target,
      "/v1/messages/cancel",
      { channel, userId, threadId },
      AbortSignal.timeout(CANCEL_WITHIN_MS),
    );
    return response.ok;
  } catch {
    // On the way out: the run ends by its own limits.
    return false;
  }
}

export function getFrom({ url, key }: ChatTarget, path: string, signal: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${key.reveal()}` };
  return fetch(`${withoutSlash(url)}${path}`, { headers, signal });
}

function withoutSlash(url: string): string {
  return url.replace(/(?<!\/)\/+$/, "");
}

async function post(target: ChatTarget, path: string, body: object, signal: AbortSignal) {
  const { url, key } = target;
  try {
    return await fetch(`${withoutSlash(url)}${path}`, {
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

async function refusalOf(response: Response, { url, channel, userId }: ChatTarget): Promise<string> {
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
