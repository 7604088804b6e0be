/**
 * Lets a page continue its conversation after a merge. If both sides have a thread of the same name, the account's thread
 * keeps it, and the visitor's becomes `NAME~2`. The page knows its thread by the old name, so for its token only, the two
 * names are swapped: each name still leads to one thread, and both threads can be reached.
 */
export interface RenamedThread {
  /** The name that the token's page uses. */
  said: string;
  /** The name in the account. */
  stored: string;
}

/** Both entries of the swap, for a visitor's thread that was renamed. */
export function changePlaces(name: string, alias: string): RenamedThread[] {
  return [
    { said: name, stored: alias },
    { said: alias, stored: name },
  ];
}

export function storedName(renamed: readonly RenamedThread[] | undefined, said: string): string {
  return renamed?.find((one) => one.said === said)?.stored ?? said;
}

export function saidName(renamed: readonly RenamedThread[], stored: string): string {
  return renamed.find((one) => one.stored === stored)?.said ?? stored;
}
