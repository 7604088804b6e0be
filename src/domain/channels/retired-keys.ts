import { hash } from "node:crypto";
import type { OlderKeys } from "./older-keys.ts";

/** More rotations than anybody makes: a record does not grow for ever. The newest are kept. */
const MOST_RETIRED = 1_000;

/** A short hash of a publishable key, which is no secret: it is compared with others alone. */
export function publishableHash(key: string): string {
  return hash("sha256", key, "base64url").slice(0, 22);
}

interface Keys {
  publishableKey: string | null;
  olderKeys?: OlderKeys[];
  retiredKeys?: string[];
}

/**
 * `retiredKeys` of a channel whose record is replaced, as a field. A publishable key is in pages that nobody may be able to
 * change: another channel that got it would get their visitors.
 */
export function retiredKeysField(
  stored: Keys | null,
  publishableKey: string | null,
): { retiredKeys?: string[] } {
  if (stored === null) return {};
  const { olderKeys = [], retiredKeys = [] } = stored;
  const before = [...olderKeys.map((older) => older.publishableKey), stored.publishableKey]
    .filter((key) => key !== null && key !== publishableKey)
    .map((key) => publishableHash(key ?? ""));
  const present = publishableKey === null ? null : publishableHash(publishableKey);
  const all = [...new Set([...retiredKeys, ...before])].filter((one) => one !== present);
  return all.length === 0 ? {} : { retiredKeys: all.slice(-MOST_RETIRED) };
}
