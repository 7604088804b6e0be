import { createHash } from "node:crypto";

/**
 * The names under which tools are offered to the model. The model's API accepts 1 to 64 of `a-z A-Z 0-9 _ -`; a tool's own
 * name may be anything. A name that does not fit, or is taken, is replaced by a safe one: readable, the same each time, and
 * made unique by a hash of the own name. Offers have the table back to the own names.
 */
const ALLOWED = /^[a-zA-Z0-9_-]{1,64}$/;
const HASH_CHARS = 8;
const READABLE_CHARS = 64 - HASH_CHARS - 1;

/** True if the model's API accepts the name. */
export function isAllowedName(name: string): boolean {
  return ALLOWED.test(name);
}

/** A name that the model's API accepts, for one that it does not; `salt` gives another one for the same name. */
export function safeName(name: string, salt = ""): string {
  const hash = createHash("sha256").update(`${salt}${name}`).digest("hex").slice(0, HASH_CHARS);
  const readable = name
    .slice(0, READABLE_CHARS)
    .replaceAll(/[^a-zA-Z0-9_-]+/g, "_")
    .replaceAll(/^_+|(?<!_)_+$/g, "");
  return `${readable === "" ? "tool" : readable}_${hash}`;
}

/** The first allowed and free name among: the own name, the wishes, and then new safe names. */
export function freeName(name: string, isTaken: (name: string) => boolean, wishes: string[] = []): string {
  for (const wish of [name, ...wishes]) if (isAllowedName(wish) && !isTaken(wish)) return wish;
  let safe = safeName(name);
  // Reached only if a page names a tool like another tool's safe name.
  for (let salt = 1; isTaken(safe); salt += 1) safe = safeName(name, `${salt}:`);
  return safe;
}
