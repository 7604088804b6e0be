import { isMessageFile } from "../../files/message-file.ts";
import type { MessageFile } from "../../files/message-file.ts";
import type { Attachments } from "../draft-attachments.ts";
import { isMessageImage } from "../../images/message-image.ts";
import type { MessageImage } from "../../images/message-image.ts";
import { isCustomerContext } from "../../service/customer-context.ts";
import type { CustomerContext } from "../../service/customer-context.ts";
import { fieldsOf, isString } from "../../service/fields.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import type { ApiRequest } from "../../service/widget-api.ts";

import type { ConversationHost } from "../conversation-host.ts";

/** A visitor's message. Its id stays the same, so the service stores it once, however often it is sent. */
export interface OutgoingMessage {
  clientMessageId: string;
  text: string;
  context: CustomerContext | null;
  /** Absent if there are none. */
  images?: readonly MessageImage[];
  /** Absent if there are none. */
  files?: readonly MessageFile[];
  /** The id of the visitor's item in whose place it stands. */
  replaces?: string;
  /** It has no text: the reply with this id is to be made anew. */
  messageId?: string;
}

export function newMessage(
  text: string,
  context: CustomerContext | null,
  { images = [], files = [] }: Attachments = {},
): OutgoingMessage {
  // crypto.randomUUID is missing on insecure pages.
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  const clientMessageId = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return {
    clientMessageId,
    text,
    context,
    ...(images.length > 0 ? { images } : {}),
    ...(files.length > 0 ? { files } : {}),
  };
}

export function isOutgoingMessage(value: unknown): value is OutgoingMessage {
  const { clientMessageId, text, context, images = [], files = [] } = fieldsOf(value);
  return (
    [clientMessageId, text].every(isString) &&
    (context === null || isCustomerContext(context)) &&
    Array.isArray(images) &&
    images.every(isMessageImage) &&
    Array.isArray(files) &&
    files.every(isMessageFile)
  );
}

/** The request that sends the message, or sends it again, with the visitor's current page. */
export function messageRequest(
  { context, images: attachments, files, ...said }: OutgoingMessage,
  { visitorToken, threadId }: ThreadAccess,
  host: Pick<ConversationHost, "page" | "locale">,
): ApiRequest {
  const customerContext = context ?? undefined;
  const body = {
    ...said,
    threadId,
    attachments,
    files: files?.map(({ id }) => id),
    page: host.page(),
    locale: host.locale(),
    customerContext,
  };
  const path = said.messageId === undefined ? "/messages" : `/threads/${threadId}/regenerate`;
  return { path, visitorToken, body };
}
