import { changePlaces } from "../../../domain/threads/renamed-threads.ts";
import type { RenamedThread } from "../../../domain/threads/renamed-threads.ts";
import type { Pair } from "../../engine.ts";
import { freshAlias } from "./fresh-alias.ts";

/** Names for threads, as users have them. */
export interface MovedNames {
  /** What the account gets. */
  names: Pair[];
  /** What the token must know: for its page the two names change places. */
  renamed: RenamedThread[];
}

/**
 * The names of a user who is merged into an account. The account's thread keeps a name that both have; the other one gets
 * the first of NAME~2, NAME~3, … that neither side has. A thread that the account has already was moved by a merge that was
 * stopped: it keeps its name.
 */
export function movedNames(from: readonly Pair[], into: readonly Pair[]): MovedNames {
  const nameOf = new Map(into.map(([name, entry]) => [entry, name]));
  const own = new Set(into.map(([name]) => name));
  const taken = new Set([...own, ...from.map(([name]) => name)]);
  const names: Pair[] = [];
  const renamed: RenamedThread[] = [];
  for (const [name, entry] of from) {
    const moved = nameOf.get(entry);
    const stored = moved ?? (own.has(name) ? freshAlias(name, taken) : name);
    taken.add(stored);
    if (moved === undefined) names.push([stored, entry]);
    if (stored !== name) renamed.push(...changePlaces(name, stored));
  }
  return { names, renamed };
}
