import { isTerminal } from "../../../machines/line.ts";
import type { Line, TerminalLine } from "../../../machines/line.ts";
import { linesOf } from "../../client/core/follow.ts";
import { createRequests, ServiceError } from "../../client/requests.ts";
import type { Sent } from "../../client/requests.ts";
import { codeOf } from "../../errors.ts";
import { widgetLine } from "../../protocol/lines.ts";
import type { Secret } from "../../secret.ts";
import { CannotDo } from "../command/terminal.ts";

/** The service, and the fields of the server API's messages that name a conversation. */
export interface ChatTarget {
  /** The service's base address, which may have a path. */
  url: string;
  key: Secret;
  channel: string;
  userId: string;
  threadId: string;
}

/** The command sends a cancel while it exits, which must not take long. */
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
  const response = await askForReply(target, body, signal);
  try {
    if (response.body === null) return null;
    for await (const read of linesOf(response.body)) {
      // A line of an unknown type is ignored.
      const line = widgetLine.safeParse(read).data;
      if (line === undefined) continue;
      onLine(line);
      if (isTerminal(line)) return line;
    }
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new CannotDo(`Cannot read the reply: ${target.url} does not speak this API`);
    }
    return null;
  }
  return null;
}

/** POST /v1/messages/cancel: stops the thread's active run. False if the service did not confirm it. */
export async function cancelRun(target: ChatTarget): Promise<boolean> {
  const { channel, userId, threadId } = target;
  try {
    await askOf(target, "messages/cancel", {
      body: { channel, userId, threadId },
      signal: AbortSignal.timeout(CANCEL_WITHIN_MS),
    });
    return true;
  } catch {
    // The command exits anyway, and the run ends by its own limits.
    return false;
  }
}

/** One request to `/v1/…`; rejects with ServiceError for a refusal. */
export function askOf({ url, key }: ChatTarget, path: string, sent: Sent): Promise<Response> {
  return createRequests({ baseUrl: url, key: key.reveal() }).ask(path, sent);
}

async function askForReply(target: ChatTarget, body: object, signal: AbortSignal): Promise<Response> {
  try {
    return await askOf(target, "messages", { body, signal });
  } catch (error) {
    if (error instanceof ServiceError) throw new CannotDo(refusalOf(error, target));
    const code = error instanceof Error ? codeOf(error.cause) : null;
    throw new CannotDo(
      `Cannot reach ${target.url}${code === null ? "" : ` (${code})`}: is the service running?`,
    );
  }
}

function refusalOf({ status, message }: ServiceError, { url, channel, userId }: ChatTarget): string {
  switch (status) {
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
      return `Cannot send the message: the service answered ${message}`;
  }
}
