import { fileType } from "../../domain/threads/file-type.ts";
import { documentKind, isImageType, MAX_FILE_CHARS } from "../../domain/threads/files.ts";
import type { FileType, KeptFile, MessageFile } from "../../domain/threads/files.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Store } from "../../store.ts";
import { refuseDeleted } from "../delete/deleted.ts";
import type { ThreadDependencies } from "../dependencies.ts";

export interface Upload {
  uid: string;
  slug: string;
  name: string;
  bytes: Buffer;
}

/** A file that comes with its message, and not before it. */
export type SentDocument = Pick<Upload, "name" | "bytes">;

/** The message that files come with. */
export interface FilesOf {
  uid: string;
  slug: string;
  clientMessageId: string | null;
}

/** Files of a thread's messages. */
export interface ThreadFiles {
  /**
   * Stores a file, which a message of the thread may name within a day. Refusal("invalid"): it is of no type that is taken, or
   * empty. Refusal("rate-limited"): too many wait to be read here.
   */
  keep(this: void, upload: Upload): Promise<MessageFile>;
  /** The same for files that come with their message: their ids. Empty if it was said before, as it brings nothing new then. */
  keepAll(this: void, message: FilesOf, documents: readonly SentDocument[]): Promise<string[]>;
  /** Null: no message of the thread has such a file. */
  get(this: void, uid: string, id: string): Promise<{ file: MessageFile; bytes: Uint8Array } | null>;
}

/** Documents are read one after the other: more do not wait for it here. */
const MOST_IN_READING = 8;

const utf8 = new TextDecoder();

export function createThreadFiles({
  store,
  newId,
  readDocument = async () => null,
}: Pick<ThreadDependencies, "store" | "newId" | "readDocument">): ThreadFiles {
  let reading = 0;

  async function textOf(type: FileType, bytes: Buffer): Promise<string | null> {
    if (isImageType(type)) return null;
    const kind = documentKind(type);
    if (kind === null) return plainText(bytes);
    if (reading >= MOST_IN_READING) throw new Refusal("rate-limited", "Too many files are being read", 2);
    reading += 1;
    try {
      return await readDocument(kind, bytes);
    } finally {
      reading -= 1;
    }
  }

  async function keep({ uid, slug, name, bytes }: Upload): Promise<MessageFile> {
    const type = bytes.length === 0 ? null : fileType(bytes, name);
    if (type === null) {
      throw new Refusal(
        "invalid",
        "Files are PDF, Word (.docx), text, CSV, PNG, JPEG, WebP or GIF, by their content",
      );
    }
    const text = (await textOf(type, bytes))?.trim() ?? "";
    const about: MessageFile = { id: newId(), name, type, bytes: bytes.length };
    const file: KeptFile = {
      ...about,
      ...(text === "" ? {} : { text: text.slice(0, MAX_FILE_CHARS).toWellFormed() }),
      ...(text.length > MAX_FILE_CHARS ? { isCut: true as const } : {}),
    };
    if (!(await store.keepUpload({ uid, slug, file, bytes }))) throw refuseDeleted();
    return about;
  }

  return {
    keep,

    async keepAll({ uid, slug, clientMessageId }, documents) {
      if (documents.length === 0) return [];
      if (clientMessageId !== null && (await store.claimed(uid, clientMessageId))) return [];
      const ids: string[] = [];
      for (const one of documents) ids.push((await keep({ uid, slug, ...one })).id);
      return ids;
    },

    async get(uid, id) {
      const file = await store.keptFile(uid, id);
      const bytes = file && (await store.keptFileBytes(uid, id));
      return file && bytes ? { file: messageFile(file), bytes } : null;
    },
  };
}

/** The files that a message names, now the thread's. Refusal("invalid") for one that the thread does not have. */
export async function takenFiles(
  store: Pick<Store, "takeUploads">,
  uid: string,
  ids: readonly string[],
): Promise<MessageFile[]> {
  const taken = await store.takeUploads(uid, ids);
  if (taken.type === "deleted") throw refuseDeleted();
  if (taken.type === "missing") {
    throw new Refusal("invalid", "This thread has no such file: one waits for its message for a day");
  }
  return taken.files.map(messageFile);
}

function messageFile({ id, name, type, bytes }: KeptFile): MessageFile {
  return { id, name, type, bytes };
}

/** UTF-8, or UTF-16 where a mark says so. */
function plainText(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  return first === 0xfe && second === 0xff ? new TextDecoder("utf-16be").decode(bytes) : utf8.decode(bytes);
}
