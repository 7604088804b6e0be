/**
 * The number of the store's format, one for both stores: `format:{g}` on Redis, `["format"]` in the embedded store.
 *
 * | format | |
 * |---|---|
 * | 1 | 0.1.0; also a Redis without a number, because 0.1.0 wrote none |
 * | 2 | the ids of messages (`id:`), what was set aside (`aside:`), records and charts that carry a version |
 *
 * The first start on a store writes it, a newer version raises it, and every start checks it: a store of a later format is
 * not opened. So it is raised only for changes that an older version must not even open, and there is no way back.
 * Everything else changes step by step: each record and chart has its own version (versions.ts), and an older instance
 * that finds a newer one leaves that thread or token alone.
 *
 * 0.1.0 checks the number only on the embedded store, where it refuses 2; on Redis it starts, and can read everything that
 * is written there.
 */
export const STORE_FORMAT = 2;

/** The format of a store without a number: Redis, as 0.1.0 left it. */
export const FIRST_FORMAT = 1;

/** Throws the one line that refuses a start. `found`: the stored format; `where`: the store, in words. */
export function refuseLaterFormat(found: unknown, where: string): void {
  const format = typeof found === "string" && /^\d+$/.test(found) ? Number(found) : found;
  if (typeof format === "number" && format >= FIRST_FORMAT && format <= STORE_FORMAT) return;
  throw new Error(
    `Cannot open the store ${where}: its format is ${String(found)}, this version reads up to ${STORE_FORMAT}; start the version that wrote it, or a newer one`,
  );
}
