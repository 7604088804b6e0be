/**
 * The number of the store's format, one for both stores: `format:{g}` on Redis, `["format"]` in the embedded store.
 *
 * | format | |
 * |---|---|
 * | 1 | 0.1.0; a Redis without a number is of this format, for 0.1.0 wrote none |
 * | 2 | the ids of messages (`id:`), what was set aside (`aside:`), records and charts that carry a version |
 *
 * It is written at the first start on a store, raised by a newer version, and checked at every start: a store of a later
 * format is not opened. So it is raised only by what an older version must not even open, and then there is no way back.
 * Everything else changes step by step: the shape of a record or a chart has a version of its own (versions.ts), and an
 * older instance that meets a newer one beside it leaves that thread or token alone.
 *
 * 0.1.0 checks the number on the embedded store alone: there it refuses 2; on Redis it starts, and finds everything
 * written as it reads it.
 */
export const STORE_FORMAT = 2;

/** Of a store that has none: Redis, as 0.1.0 left it. */
export const FIRST_FORMAT = 1;

/** Throws the one line that refuses a start. `found`: as it is stored; `where`: the store, in words. */
export function refuseLaterFormat(found: unknown, where: string): void {
  const format = typeof found === "string" && /^\d+$/.test(found) ? Number(found) : found;
  if (typeof format === "number" && format >= FIRST_FORMAT && format <= STORE_FORMAT) return;
  throw new Error(
    `Cannot open the store ${where}: its format is ${String(found)}, this version reads up to ${STORE_FORMAT}; start the version that wrote it, or a newer one`,
  );
}
