import { declaredType } from "../../domain/threads/attachments.ts";
import type { Step } from "../../protocol/lines.ts";
import { itemOf, shownMessageId } from "../history-page.ts";
import type { HistoryShape } from "../history-page.ts";
import { activityOf } from "./agent-events.ts";

/**
 * A page of history as AG-UI's messages, in one event: steps are messages before the reply that they belong to. The
 * text is written last, so that a long one can be written while it is read.
 */
export const MESSAGES_SNAPSHOT: HistoryShape = {
  begin: 'data: {"type":"MESSAGES_SNAPSHOT","messages":[',
  end: "]}\n\n",
  around(message, addresses) {
    const { role, attachments = [], steps = [], ...rest } = itemOf(message, addresses);
    const { author, model, error, sources } = rest;
    const metadata = { ...(author ? { author: author.type } : {}), model, error, sources };
    const told = {
      id: shownMessageId(message),
      role,
      ...(author ? { name: author.name } : {}),
      ...(author || model !== undefined || error || sources ? { metadata } : {}),
    };
    const before = [...steps.map((step) => stepMessage(message.runId, step)), told]
      .map((one) => JSON.stringify(one))
      .join(",")
      .slice(0, -1);
    if (attachments.length === 0) return { before: `${before},"content":"`, after: '"}' };
    const images = attachments.map(({ url }) => JSON.stringify(imagePart(url))).join(",");
    return { before: `${before},"content":[${images},{"type":"text","text":"`, after: '"}]}' };
  },
};

function stepMessage(runId: string, step: Step) {
  const { messageId: id, ...activity } = activityOf(runId, step);
  return { id, role: "activity", ...activity };
}

function imagePart(url: string) {
  const mimeType = declaredType(url);
  if (mimeType === null) return { type: "image", source: { type: "url", value: url } };
  const value = url.slice(`data:${mimeType};base64,`.length);
  return { type: "image", source: { type: "data", value, mimeType } };
}
