/**
 * A thread's name after a merge if the account has a thread of the same name: `NAME~K`, with the smallest K from 2
 * that is free on both sides. The account's thread keeps the name.
 */
export function freshAlias(name: string, taken: ReadonlySet<string>): string {
  for (let k = 2; ; k++) {
    const alias = `${name}~${k}`;
    if (!taken.has(alias)) return alias;
  }
}
