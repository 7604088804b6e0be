import { lookup as systemLookup } from "node:dns";
import type { LookupAddress, LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress, literalAddress } from "./domain/public-address.ts";

type Found = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;

export type Lookup = (host: string, options: LookupOptions, callback: Found) => void;

/** The message of the error where a connection would go to an address that is not public. */
export const NOT_PUBLIC = "its address is not public";

/**
 * The lookup of a connection, which finds public addresses alone unless `allowsPrivate`. The connection goes to an address
 * that was checked, so the name cannot change between check and use. A URL that contains an address is looked up by
 * nobody: see mustBePublic().
 */
export function publicLookup({
  allowsPrivate,
  lookup = (host, options, callback) => systemLookup(host, { ...options, all: true }, callback),
}: {
  allowsPrivate: boolean;
  lookup?: Lookup;
}): LookupFunction {
  const look = sharedLookup(lookup);
  return (host, options, callback) => {
    look(host, options, (error, found) => {
      if (error) return callback(error, []);
      const open = found.filter(({ address }) => allowsPrivate || isPublicAddress(address));
      const [first] = open;
      if (!first) return callback(new Error(NOT_PUBLIC), []);
      if (options.all) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
}

/** Throws where the URL contains an address that is not public. */
export function mustBePublic(url: string): void {
  const literal = literalAddress(url);
  if (literal !== null && !isPublicAddress(literal)) throw new Error(NOT_PUBLIC);
}

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
