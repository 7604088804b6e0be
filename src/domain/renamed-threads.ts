/**
 * How a page goes on in a conversation whose name it had first. In a merge the account's thread keeps a name that both
 * sides have, and the visitor's becomes `NAME~2`. The page knows its thread by the old name, so the two names change places
 * for its token, and for it alone: each name leads to one thread, and none of the two is out of reach.
 */
export interface RenamedThread {
  /** As the token's page says it. */
  said: string;
  /** As the account has it. */
  stored: string;
}

/** Both ways, of a visitor's thread that got another name. */
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
