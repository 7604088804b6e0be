import { keyPart } from "./db.ts";
import type { Key } from "./db.ts";

/** The keys of user-records.ts, and what some of them are made of. */
interface Placed {
  createdAtMs: number;
  user: { userId: string };
}

export const userKey = (slug: string, userId: string): Key => ["u", keyPart(slug), keyPart(userId)];
export const externalKey = (slug: string, externalId: string): Key => [
  "x",
  keyPart(slug),
  keyPart(externalId),
];
export const orderKey = (slug: string, record: Placed): Key => [
  "us",
  keyPart(slug),
  record.createdAtMs,
  keyPart(record.user.userId),
];
export const blockedKey = (slug: string, record: Placed): Key => [
  "bl",
  keyPart(slug),
  record.createdAtMs,
  keyPart(record.user.userId),
];
export const namesKey = (slug: string, userId: string): Key => ["n", keyPart(slug), keyPart(userId)];
export const nameKey = (slug: string, userId: string, name: string): Key => [
  ...namesKey(slug, userId),
  keyPart(name),
];
export const tokenKey = (slug: string, tokenHash: string): Key => ["v", keyPart(slug), keyPart(tokenHash)];
/** Apart from the token, so that extending the lifetime never overwrites what identify has just bound. */
export const expiryKey = (slug: string, tokenHash: string): Key => ["e", keyPart(slug), keyPart(tokenHash)];

/** A user's tokens; may include expired ones. */
export const userTokenKey = (slug: string, userId: string, tokenHash: string): Key => [
  "vt",
  keyPart(slug),
  keyPart(userId),
  keyPart(tokenHash),
];

export const movedKey = (slug: string, userId: string): Key => ["w", keyPart(slug), keyPart(userId)];
export const countKey = (day: string, name: string): Key => ["y", keyPart(day), keyPart(name)];
