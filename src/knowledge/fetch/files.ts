import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { messageOf } from "../../errors.ts";
import { kindOf } from "../read/kinds.ts";
import type { Reader } from "../read/reader.ts";
import { MOST_PAGES, TOO_MANY } from "./crawl.ts";
import type { Crawled, KnownPage } from "./crawl.ts";
import { isWanted } from "./patterns.ts";

/** A source on this machine's disk: a folder with all below it, or a file. */
export interface FileSource {
  /** One of both. */
  folder?: string;
  file?: string;
  include?: string[];
  exclude?: string[];
}

const MOST_BYTES = 16 * 1_048_576;

/**
 * Reads a source file by file; files of other kinds, and names that begin with a dot, are passed over, links are not followed. The
 * `url` of a file is its path below the folder. Rejects if the folder, or the file, is not there.
 */
export async function* readFiles(
  source: FileSource,
  {
    reader,
    known,
    isRead = () => false,
    signal,
  }: {
    reader: Pick<Reader, "read">;
    known: (
      url: string,
    ) => Pick<KnownPage, "hash"> | undefined | Promise<Pick<KnownPage, "hash"> | undefined>;
    /** As in crawl.ts. */
    isRead?: (url: string) => boolean;
    signal: AbortSignal;
  },
): AsyncGenerator<Crawled> {
  const { file, folder = "" } = source;
  const paths = file === undefined ? await filesBelow(folder, source) : [file];
  if (file !== undefined) await stat(file);
  // Perhaps it is not mounted.
  if (paths.length === 0) throw new Error("its folder has no file that can be read");
  for (const path of paths) {
    signal.throwIfAborted();
    const url = file === undefined ? relative(folder, path).replaceAll("\\", "/") : basename(file);
    const kind = kindOf(null, path);
    if (isRead(url)) {
      yield { type: "unchanged", url };
      continue;
    }
    if (kind === null) {
      yield { type: "gone", url, why: "it is of no kind that can be read" };
      continue;
    }
    try {
      const { size } = await stat(path);
      if (size > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
      const bytes = await readFile(path);
      const hash = createHash("sha256").update(bytes).digest("hex");
      if ((await known(url))?.hash === hash) {
        yield { type: "unchanged", url };
        continue;
      }
      const page = await reader.read({ kind, bytes, url: `file:///${encodeURI(url)}` });
      yield { type: "read", url, page, known: { etag: null, lastModified: null, hash, links: [] } };
    } catch (error) {
      signal.throwIfAborted();
      yield { type: "failed", url, why: messageOf(error) };
    }
  }
  if (paths.length === MOST_PAGES) yield { type: "failed", url: folder, why: TOO_MANY };
}

/** In the order of their names. */
async function filesBelow(folder: string, source: FileSource): Promise<string[]> {
  const paths: string[] = [];
  const folders = [folder];
  for (const here of folders) {
    const entries = (await readdir(here, { withFileTypes: true })).filter(
      ({ name }) => !name.startsWith("."),
    );
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = join(here, entry.name);
      const place = `/${relative(folder, path).replaceAll("\\", "/")}`;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && kindOf(null, path) !== null && isWanted(place, source)) paths.push(path);
      if (paths.length === MOST_PAGES) return paths;
    }
  }
  return paths;
}
