/**
 * The number of the store's format, one for every engine: `format:{g}` on Redis, `["format"]` in the embedded store.
 *
 * | format | |
 * |---|---|
 * | 1 | 0.1.0; also a Redis without a number, because 0.1.0 wrote none |
 * | 2 | the ids of messages, what was set aside, records and charts that carry a version |
 * | 3 | one layout for every engine (tables.ts) |
 *
 * The first start on a store writes it, and every start checks it. It is raised only for changes that another version must not
 * even open; a store of another format moves by a backup (backup/). Everything else changes step by step: each record and
 * chart has its own version (checks.ts), and an older instance that finds a newer one leaves that thread or token alone.
 */
export const STORE_FORMAT = 3;

/** The format of a store without a number: Redis, as 0.1.0 left it. */
export const FIRST_FORMAT = 1;

/** Throws the one line that refuses a start. `found`: the stored format; `where`: the store, in words. */
export function refuseOtherFormat(found: unknown, where: string): void {
  const format = typeof found === "string" && /^\d+$/.test(found) ? Number(found) : found;
  if (format === STORE_FORMAT) return;
  const cannot = `Cannot open the store ${where}: its format is ${String(found)}, this version reads`;
  throw new Error(
    typeof format === "number" && format < STORE_FORMAT
      ? `${cannot} ${STORE_FORMAT}; back it up with a version that opens it (chat-agent store backup FILE), and restore the file into an empty store with this one (chat-agent store restore FILE)`
      : `${cannot} up to ${STORE_FORMAT}; start the version that wrote it, or a newer one`,
  );
}
