import type { LookupAddress, LookupOptions } from "node:dns";

type Found = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;

export type Lookup = (host: string, options: LookupOptions, callback: Found) => void;

/**
 * Asks once for all who want the same name at the same time. The system looks up two names at once and no more, for the
 * whole process: a receiver whose name server hangs would hold up those of the models and of all others, by the many
 * connections that are made to it.
 */
export function sharedLookup(lookup: Lookup): Lookup {
  const waiting = new Map<string, Found[]>();
  return (host, options, callback) => {
    const name = `${host} ${JSON.stringify(options)}`;
    const others = waiting.get(name);
    if (others) return void others.push(callback);
    const all = [callback];
    waiting.set(name, all);
    lookup(host, options, (error, found) => {
      waiting.delete(name);
      for (const one of all) one(error, found);
    });
  };
}
