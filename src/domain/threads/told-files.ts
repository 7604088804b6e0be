import { isImageType } from "./files.ts";
import type { KeptFile, MessageFile } from "./files.ts";

/** What a model may be shown of a file. */
export interface ToldFile {
  /** What it says; absent: nothing could be read, or it is an image. */
  text?: string;
  isCut?: true;
  /** An image, as a data: URL. */
  url?: string;
}

/** By file id. */
export type ToldFiles = ReadonlyMap<string, ToldFile>;

interface Said {
  files?: readonly MessageFile[];
}

/** A turn reads so many files, the newest first; of the others the model is told the names. */
const MOST_FILES = 16;
const MOST_IMAGES = 4;

/** Reads the files that a model is shown: of the message that is answered, and the newest before it. Null: they have none. */
export function readFiles(
  answered: Said,
  before: readonly Said[],
  read: { file: (id: string) => Promise<KeptFile | null>; bytes: (id: string) => Promise<Uint8Array | null> },
): Promise<ToldFiles> | null {
  if (!answered.files && !before.some(({ files }) => files)) return null;
  const newest = [answered, ...before.toReversed()].flatMap(({ files = [] }) => files).slice(0, MOST_FILES);
  const images = newest.filter(({ type }) => isImageType(type)).slice(0, MOST_IMAGES);
  const shown = newest.map(async (file): Promise<[string, ToldFile][]> => {
    if (!isImageType(file.type)) {
      const kept = await read.file(file.id);
      return kept ? [[file.id, { ...textOf(kept) }]] : [];
    }
    const bytes = images.includes(file) ? await read.bytes(file.id) : null;
    if (bytes === null) return [];
    return [[file.id, { url: `data:${file.type};base64,${Buffer.from(bytes).toString("base64")}` }]];
  });
  return Promise.all(shown).then((entries) => new Map(entries.flat()));
}

function textOf({ text, isCut }: KeptFile): ToldFile {
  return { ...(text === undefined ? {} : { text }), ...(isCut ? { isCut } : {}) };
}
