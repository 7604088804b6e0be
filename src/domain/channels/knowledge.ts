/** The channel field `knowledge`: which documents the assistant answers from (contract, Knowledge). */
export interface KnowledgeField {
  sources: KnowledgeSource[];
  /** PROVIDER/MODEL: passages are found by their meaning, too; absent: by their words alone. */
  embeddings?: string;
  /** How many passages the model is given for a question; absent: PASSAGES_GIVEN. */
  passages?: number;
  /** What the passages do not answer is not answered, but handed over where the channel can. */
  only?: boolean;
}

/** A place with documents. It has exactly one of `url`, `sitemap`, `folder` and `file`. */
export interface KnowledgeSource {
  /** Unique in the channel. */
  name: string;
  /** A page, and what it leads to. */
  url?: string;
  /** The pages of a sitemap. */
  sitemap?: string;
  /** A folder of the instance that reads it, with all below it. */
  folder?: string;
  file?: string;
  /** How often it is read: `30m`, `24h`, `7d`; absent: EVERY. */
  every?: string;
  /** How many links away from `url` a page may be; absent: 3. */
  depth?: number;
  /** Paths that are wanted, and that are not: `*` is any characters. */
  include?: string[];
  exclude?: string[];
}

export const PASSAGES_GIVEN = 6;

/** The tool by which the model searches the documents. */
export const SEARCH_KNOWLEDGE = "search_knowledge";
const EVERY = "24h";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LEAST_MS = 1_000;
const MOST_MS = 365 * 86_400_000;

/** `24h` in ms; null: it is no time between one second and a year. */
export function everyMs(text: string = EVERY): number | null {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  return ms >= LEAST_MS && ms <= MOST_MS ? ms : null;
}

/** Where its documents are. */
export function placeOf({ url, sitemap, folder, file }: KnowledgeSource): string {
  return url ?? sitemap ?? folder ?? file ?? "";
}

/** On the disk of the instance that reads it. */
export function isOnDisk({ folder, file }: KnowledgeSource): boolean {
  return (folder ?? file) !== undefined;
}
