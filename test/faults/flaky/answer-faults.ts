import { isTerminal } from "../../../machines/line.ts";
import type { Heard } from "../history/client.ts";

/** What each route of both APIs answers while its store comes and goes, to a client that asks nothing wrong. */
const ANSWERS = {
  "POST /v1/messages": [200],
  "POST /v1/messages/cancel": [204],
  "GET /v1/threads": [200],
  "GET /v1/threads/{threadId}/messages": [200],
  "GET /v1/threads/{threadId}/stream": [200],
  "POST /v1/access": [200],
  "POST /v1/channels/{slug}/identify": [200],
  "POST /v1/widget/visitors": [201],
  "POST /v1/widget/threads": [201],
  "GET /v1/widget/threads": [200],
  "POST /v1/widget/tools": [204],
  "POST /v1/widget/messages": [200],
  // 409: the call expired, or was superseded, before its result came.
  "POST /v1/widget/tool-results": [200, 409],
  // 204: the thread's only message was refused.
  "GET /v1/widget/threads/{id}/stream": [200, 204],
  "POST /v1/widget/threads/{id}/cancel": [204],
  "GET /v1/widget/threads/{id}/messages": [200],
  "POST /v1/threads/{threadId}/handoff": [204],
  "POST /v1/widget/threads/{id}/handoff": [204],
  "POST /v1/widget/threads/{id}/handoff/cancel": [204],
  // 409: it was done, the answer was lost, and this is the second try.
  "POST /v1/operator/channels/{slug}/threads/{id}/take": [200, 409],
  "POST /v1/operator/channels/{slug}/threads/{id}/messages": [201],
  "POST /v1/operator/channels/{slug}/threads/{id}/return": [200, 409],
  "POST /v1/operator/channels/{slug}/threads/{id}/close": [200, 409],
} as const satisfies Record<string, readonly number[]>;

export type Route = keyof typeof ANSWERS;

/** The routes whose 200 is no stream. */
const ANSWERS_WHOLE: readonly Route[] = [
  "GET /v1/threads",
  "GET /v1/threads/{threadId}/messages",
  "POST /v1/access",
  "POST /v1/channels/{slug}/identify",
  "GET /v1/widget/threads",
  "GET /v1/widget/threads/{id}/messages",
  "POST /v1/operator/channels/{slug}/threads/{id}/take",
  "POST /v1/operator/channels/{slug}/threads/{id}/return",
  "POST /v1/operator/channels/{slug}/threads/{id}/close",
];

export const ROUTES = Object.keys(ANSWERS);

/** One request as its client saw it. */
export interface Exchange {
  route: Route;
  heard: Heard;
}

/** What is wrong with an answer of a service that lives: its status, its body, or the end of its stream. */
export function answerFaults({ route, heard }: Exchange): string[] {
  const { status, lines, text } = heard;
  const allowed: readonly number[] = ANSWERS[route];
  if (status === 503) return text === "" ? [] : [`${route}: 503 with a body: ${text}`];
  if (status === null || !allowed.includes(status)) return [`${route}: status ${status} ${text}`];
  const isStream = status === 200 && !ANSWERS_WHOLE.includes(route);
  if (isStream && (lines.length === 0 || lines.findIndex(isTerminal) !== lines.length - 1)) {
    return [`${route}: a stream that does not end in its one terminal line: ${JSON.stringify(lines)}`];
  }
  return [];
}
