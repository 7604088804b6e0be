import { hash } from "node:crypto";
import type { Attachment, Message } from "chat";
import { IMAGE_TYPES, MAX_ATTACHMENTS } from "../domain/threads/attachments.ts";
import type { SentAttachment } from "../domain/threads/attachments.ts";
import { MAX_FILES } from "../domain/threads/files.ts";
import { isImageData } from "../domain/threads/image-data.ts";
import { cutText } from "../../machines/line.ts";
import type { SentDocument } from "../threads/say/files.ts";
import { within } from "./within.ts";
import type { Arrived } from "./inbox.ts";

/** A message of a platform's user as the server API would get it. */
export interface Said {
  threadId: string;
  userId: string;
  displayName: string | null;
  text: string;
  attachments: SentAttachment[];
  /** Its other files; what of them is taken is decided by their bytes. */
  documents: SentDocument[];
  clientMessageId: string;
}

/** What a channel takes beside text. */
export interface Takes {
  images: boolean;
  /** Of one file; null: no files. */
  fileBytes: number | null;
}

/** Of all images of a message together; longer ones are named in the text. */
const IMAGE_BYTES = 3_000_000;
/** The platform waits for the answer to its request meanwhile. */
const FETCH_MS = 5_000;
/** The server API's bound of an id. */
const MOST_ID_CHARS = 128;
const MOST_NAME_CHARS = 256;

/** Is this meant for the bot? In a group only what mentions it; `isKnown`: the user has talked with it in this thread. */
export function isForBot({ adapter, threadId, message }: Arrived, isKnown: boolean): boolean {
  if (message.author.isMe || message.author.isBot === true) return false;
  return (adapter.isDM?.(threadId) ?? false) || message.isMention === true || isKnown;
}

/** Null: there is nothing in it that can be said. */
export async function saidOf({ threadId, message }: Arrived, takes: Takes): Promise<Said | null> {
  const { attachments, left: others } = await imagesOf(message.attachments, takes.images);
  const { documents, left } = await documentsOf(others, takes.fileBytes);
  const text = [message.text.trim(), ...left.map(nameOf)].filter((part) => part !== "").join("\n");
  if (text === "" && attachments.length === 0 && documents.length === 0) return null;
  const { fullName, userName, userId } = message.author;
  return {
    threadId,
    userId,
    displayName: printable(fullName || userName) || null,
    // The API takes no message without a text, but beside files.
    text: text === "" && documents.length === 0 ? nameOf({ type: "image" }) : text,
    attachments,
    documents,
    clientMessageId: idOf(message),
  };
}

function idOf({ id }: Message): string {
  return id.length <= MOST_ID_CHARS && /^\P{Cc}+$/u.test(id) ? id : hash("sha256", id);
}

function printable(name: string): string {
  return cutText(name.replaceAll(/\p{Cc}/gu, " ").trim(), MOST_NAME_CHARS);
}

/** What the model is told of a file that it does not get. */
export function nameOf({ type, name }: Pick<Attachment, "type" | "name">): string {
  return name === undefined ? `[${type}]` : `[${type}: ${printable(name)}]`;
}

async function imagesOf(
  sent: readonly Attachment[],
  takesImages: boolean,
): Promise<{ attachments: SentAttachment[]; left: Attachment[] }> {
  const attachments: SentAttachment[] = [];
  const left: Attachment[] = [];
  let bytesLeft = IMAGE_BYTES;
  for (const one of sent) {
    const mayBe = takesImages && one.type === "image" && attachments.length < MAX_ATTACHMENTS;
    const image = mayBe && (one.size ?? 0) <= bytesLeft ? await fetched(one) : null;
    if (image === null || image.length > bytesLeft) left.push(one);
    else {
      const url = dataUrl(image);
      if (url === null) left.push(one);
      else {
        bytesLeft -= image.length;
        attachments.push({ url, ...(one.name === undefined ? {} : { name: printable(one.name) }) });
      }
    }
  }
  return { attachments, left };
}

/** Those that are no images, sounds or videos, and can be had. */
async function documentsOf(
  sent: readonly Attachment[],
  fileBytes: number | null,
): Promise<{ documents: SentDocument[]; left: Attachment[] }> {
  const documents: SentDocument[] = [];
  const left: Attachment[] = [];
  for (const one of sent) {
    const mayBe = fileBytes !== null && one.type === "file" && documents.length < MAX_FILES;
    const bytes = mayBe && (one.size ?? 0) <= fileBytes ? await fetched(one) : null;
    if (bytes === null || bytes.length > (fileBytes ?? 0)) left.push(one);
    else documents.push({ name: printable(one.name ?? "") || "file", bytes });
  }
  return { documents, left };
}

/** Null: it cannot be had. What is said beside it is worth more, and must not be sent again and again because of it. */
async function fetched({ fetchData, data }: Attachment): Promise<Buffer | null> {
  if (Buffer.isBuffer(data)) return data;
  try {
    const bytes = await within(FETCH_MS, fetchData?.() ?? Promise.resolve(null));
    return bytes && Buffer.from(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes);
  } catch {
    return null;
  }
}

/** By what the bytes are: platforms and users call them anything. */
function dataUrl(bytes: Buffer): string | null {
  const base64 = bytes.toString("base64");
  return IMAGE_TYPES.map((type) => `data:${type};base64,${base64}`).find(isImageData) ?? null;
}
