import { IMAGE_TYPES } from "./attachments.ts";
import type { ImageType } from "./attachments.ts";

/**
 * A file of a user's message, as the message has it. The file itself is stored beside its thread (ThreadStore.keepUpload), so
 * that loading a thread stays cheap whatever was sent in it.
 */
export interface MessageFile {
  id: string;
  name: string;
  /** By its content, not by what its sender said. */
  type: FileType;
  bytes: number;
}

/** A file as it is stored, without its bytes. */
export interface KeptFile extends MessageFile {
  /** What it says, for a model; absent: it is an image, or nothing could be read. */
  text?: string;
  /** `text` is its beginning alone. */
  isCut?: true;
  /** Its bytes are not in the store (stores/files/). */
  isOutside?: true;
}

export type FileType = (typeof FILE_TYPES)[number];

export const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

export const FILE_TYPES = [
  ...IMAGE_TYPES,
  "application/pdf",
  DOCX,
  "text/plain",
  "text/markdown",
  "text/csv",
] as const;

export const MAX_FILE_NAME_CHARS = 256;
/** Of one message. */
export const MAX_FILES = 8;
/** Of a file's text that is kept. */
export const MAX_FILE_CHARS = 200_000;

/** A file without a message is dropped after this. */
export const UPLOAD_MS = 86_400_000;

/** The kind of its document, as knowledge/read knows it; null: an image, or plain text. */
export function documentKind(type: FileType): DocumentKind | null {
  return type === "application/pdf" ? "pdf" : type === DOCX ? "docx" : null;
}

export type DocumentKind = "pdf" | "docx";

/** What a document says; null: nothing can be read from it. */
export type ReadDocument = (kind: DocumentKind, bytes: Uint8Array) => Promise<string | null>;

export function isImageType(type: FileType): type is ImageType {
  return IMAGE_TYPES.some((one) => one === type);
}

/** A file is stored as parts of a run id that no run has: first what is known of it, then its bytes in base64. */
export function fileName(id: string): string {
  return `${id}~file`;
}

export const ABOUT_FILE = 0;
export const BYTES_OF_FILE = 1;
