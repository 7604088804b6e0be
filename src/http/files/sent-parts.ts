import { declaredType } from "../../domain/threads/attachments.ts";
import type { SentAttachment } from "../../domain/threads/attachments.ts";
import { MAX_FILES } from "../../domain/threads/files.ts";
import type { SentDocument } from "../../threads/say/files.ts";
import { Refusal } from "../../domain/refusal.ts";
import { parseWith } from "../body.ts";
import { attachmentList, fileIds, messageText } from "../fields.ts";
import { shownName } from "./file-body.ts";

/** What stands in a front end's message beside its text. */
export interface SentParts {
  attachments?: SentAttachment[];
  files?: string[];
  documents?: SentDocument[];
}

/** `data:` with anything but an image; what it says of its type is not believed (domain/threads/file-type.ts). */
const DOCUMENT = /^data:(?!image\/)[^,]{0,200};base64,/i;
/** A file of a thread, as its history names it. */
const OWN_FILE = /\/v1\/widget\/threads\/[^/]{1,128}\/files\/([\w-]{1,64})$/;

/**
 * Sorts the files of a message of another protocol: a document in itself (data:), a file of the thread by its address in the
 * history, and everything else as an image. Throws Refusal("invalid").
 */
export function sentParts(sent: readonly { url: string; name?: string }[]): SentParts {
  const ids: string[] = [];
  const documents: SentDocument[] = [];
  const images: { url: string; name?: string }[] = [];
  for (const one of sent) {
    const id = OWN_FILE.exec(one.url)?.[1];
    const begin = declaredType(one.url) === null ? DOCUMENT.exec(one.url)?.[0] : undefined;
    if (id !== undefined) ids.push(id);
    else if (begin === undefined) images.push(one);
    else
      documents.push({
        name: shownName(one.name ?? null),
        bytes: Buffer.from(one.url.slice(begin.length), "base64"),
      });
  }
  const files = parseWith(fileIds, ids) ?? [];
  if (files.length + documents.length > MAX_FILES)
    throw new Refusal("invalid", `At most ${MAX_FILES} files in a message`);
  return {
    ...(images.length > 0 ? { attachments: parseWith(attachmentList, images) } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(documents.length > 0 ? { documents } : {}),
  };
}

/** The text of a message of another protocol: it may be empty beside files. Throws Refusal("invalid"). */
export function textBeside(text: string, { files, documents }: SentParts): string {
  return text === "" && (files ?? documents) !== undefined ? "" : parseWith(messageText, text);
}

/** The address of a file for requests with its visitor's token; in a message of a front end it means this file. */
export function addressOfFile(threadId: string, fileId: string): string {
  return `/v1/widget/threads/${encodeURIComponent(threadId)}/files/${fileId}`;
}
