import { createHash } from "node:crypto";

/**
 * Names under which tools are offered to the model. The model's API takes 1 to 64 of `a-z A-Z 0-9 _ -`; a tool's own
 * name may be anything. A name that does not fit, or that is taken, gets a safe one: readable, the same each time, and
 * distinguished by a hash of the own name. Offers keep the table back to the own names.
 */
const ALLOWED = /^[a-zA-Z0-9_-]{1,64}$/;
const HASH_CHARS = 8;
const READABLE_CHARS = 64 - HASH_CHARS - 1;

/** True for a name that the model's API takes as it is. */
export function isAllowedName(name: string): boolean {
  return ALLOWED.test(name);
}

/** A name that the model's API takes, for one that it does not; `salt` gives another one for the same name. */
export function safeName(name: string, salt = ""): string {
  const hash = createHash("sha256").update(`${salt}${name}`).digest("hex").slice(0, HASH_CHARS);
  const readable = name
    .slice(0, READABLE_CHARS)
    .replaceAll(/[^a-zA-Z0-9_-]+/g, "_")
    .replaceAll(/^_+|(?<!_)_+$/g, "");
  return `${readable === "" ? "tool" : readable}_${hash}`;
}

/** The first of the own name, the wishes and ever new safe names that is allowed and free. */
export function freeName(name: string, isTaken: (name: string) => boolean, wishes: string[] = []): string {
  for (const wish of [name, ...wishes]) if (isAllowedName(wish) && !isTaken(wish)) return wish;
  let safe = safeName(name);
  // Only a page that names a tool after another one's hash comes this way.
  for (let salt = 1; isTaken(safe); salt += 1) safe = safeName(name, `${salt}:`);
  return safe;
}
