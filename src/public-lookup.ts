import type { LookupAddress, LookupOptions } from "node:dns";

type Found = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;

export type Lookup = (host: string, options: LookupOptions, callback: Found) => void;

/**
 * Looks up a name once for all callers who ask at the same time. The system runs only two lookups at a time for the
 * whole process: a receiver with a hanging name server and many connections would delay the lookups of the models and
 * of everyone else.
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
