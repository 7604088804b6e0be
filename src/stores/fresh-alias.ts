/**
 * The name under which a thread is reached after a merge, where the account has a thread of its name already: `NAME~K`
 * with the smallest K from 2 that is not taken on either side. The account's thread keeps the name.
 */
export function freshAlias(name: string, taken: ReadonlySet<string>): string {
  for (let k = 2; ; k++) {
    const alias = `${name}~${k}`;
    if (!taken.has(alias)) return alias;
  }
}
