import { declaredType } from "../../domain/threads/attachments.ts";
import type { HistoryItem } from "../../protocol/history.ts";
import { addressOfFile } from "../files/sent-parts.ts";
import type { Step } from "../../protocol/lines.ts";
import { itemOf, shownMessageId } from "../history-page.ts";
import type { HistoryShape } from "../history-page.ts";
import { activityOf } from "./agent-events.ts";

/**
 * A page of history as AG-UI's messages, in one event: steps are messages before the reply that they belong to. The
 * text is written last, so that a long one can be written while it is read.
 */
export const messagesSnapshot = (threadId: string): HistoryShape => ({
  begin: 'data: {"type":"MESSAGES_SNAPSHOT","messages":[',
  end: "]}\n\n",
  around(message, addresses) {
    const { role, attachments = [], files = [], steps = [], ...rest } = itemOf(message, addresses);
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
    const beside = [
      ...attachments.map(({ url }) => imagePart(url)),
      ...files.map((file) => filePart(threadId, file)),
    ];
    if (beside.length === 0) return { before: `${before},"content":"`, after: '"}' };
    const parts = beside.map((part) => JSON.stringify(part)).join(",");
    return { before: `${before},"content":[${parts},{"type":"text","text":"`, after: '"}]}' };
  },
});

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

/** Its address is for a request with the visitor's token; sent back, it means this file. */
function filePart(threadId: string, { id, type }: FileOfItem) {
  return { type: "document", source: { type: "url", value: addressOfFile(threadId, id), mimeType: type } };
}

type FileOfItem = NonNullable<HistoryItem["files"]>[number];
