/**
 * A place for the bytes of visitors' files beside the store: a folder (FILES_DIR) or an S3-compatible bucket (FILES_URL). What is
 * known of a file, its text too, stays in the store. Names are made here of `a-z 0-9 - _ /`.
 */
export interface OutsideFiles {
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Null: there is none. */
  get(name: string): Promise<Buffer | null>;
  /** Nothing happens if there is none. */
  move(from: string, to: string): Promise<void>;
  /** Everything below a name that ends with `/`. `olderThanMs`: only what was put before this, Unix ms. */
  removeBelow(prefix: string, olderThanMs?: number): Promise<void>;
}

/** The place does not answer, or refuses. */
export class FilesUnavailable extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "FilesUnavailable";
  }
}
