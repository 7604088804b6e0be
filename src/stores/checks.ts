import { UnreadableRecord } from "../store.ts";

/**
 * What is read back from a store is checked, by hand because every load reads a hundred records: what fits is passed on
 * as it is, so nothing is copied, and a field that this version does not know stays where it is.
 */
export type Check<T> = (value: unknown) => value is T;

/** A field that a record may lack. */
interface Optional<T> {
  optional: Check<T>;
}

/** A field that records of an earlier version lack: it is filled in. */
interface Defaulted<T> {
  check: Check<T>;
  missing: () => T;
}

/** A check for each field of a record; a field that its type gains does not compile until it has one. */
export type Fields<T> = {
  [Name in keyof T]-?: Partial<T> extends Pick<T, Name>
    ? Optional<T[Name]>
    : Check<T[Name]> | Defaulted<T[Name]>;
};

export const isText: Check<string> = (value) => typeof value === "string";
export const isNumber: Check<number> = (value) => typeof value === "number";
export const isFlag: Check<boolean> = (value) => typeof value === "boolean";
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Exactly this value. */
export function literal<const T>(expected: T): Check<T> {
  return (value): value is T => value === expected;
}

/** One of these texts; one that the type gains does not compile until it is here. */
export function oneOf<T extends string>(texts: Record<T, true>): Check<T> {
  const known = new Set<unknown>(Object.keys(texts));
  return (value): value is T => known.has(value);
}

export function either<A, B>(one: Check<A>, other: Check<B>): Check<A | B> {
  return (value): value is A | B => one(value) || other(value);
}

export function nullable<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

export function listOf<T>(check: Check<T>): Check<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.every(check);
}

export function mapOf<T>(check: Check<T>): Check<Record<string, T>> {
  return (value): value is Record<string, T> => isObject(value) && Object.values(value).every(check);
}

export function optional<T>(check: Check<T>): Optional<T> {
  return { optional: check };
}

export function defaulted<T>(check: Check<T>, missing: () => T): Defaulted<T> {
  return { check, missing };
}

/** Of a union, each kind by its `type`. */
export function byType<T extends { type: string }>(kinds: {
  [Type in T["type"]]: Check<Extract<T, { type: Type }>>;
}): Check<T> {
  const checks = new Map<unknown, Check<T>>(Object.entries(kinds));
  return (value): value is T => isObject(value) && (checks.get(value["type"])?.(value) ?? false);
}

export interface ShapeCheck<T> extends Check<T> {
  /** Which field does not fit, in words. */
  fault(value: unknown): string;
}

export function shape<T>(fields: Fields<T>): ShapeCheck<T> {
  const list = Object.entries<Check<unknown> | Optional<unknown> | Defaulted<unknown>>(fields).map(
    ([name, field]) => {
      if (typeof field === "function") return { name, check: field, mayLack: false, missing: null };
      if ("optional" in field) return { name, check: field.optional, mayLack: true, missing: null };
      return { name, check: field.check, mayLack: false, missing: field.missing };
    },
  );

  /** The first field that does not fit; null where all do. */
  function misfit(value: Record<string, unknown>): string | null {
    for (const field of list) {
      const found = value[field.name];
      if (found !== undefined) {
        if (!field.check(found)) return field.name;
      } else if (field.missing) value[field.name] = field.missing();
      else if (!field.mayLack) return field.name;
    }
    return null;
  }

  const check = (value: unknown): value is T => isObject(value) && misfit(value) === null;
  return Object.assign(check, {
    fault: (value: unknown) => (isObject(value) ? `its ${misfit(value)} does not fit` : "it is no object"),
  });
}

/** Where a record is: its key in Redis or in lmdb, or whatever tells an operator where to look. */
export type Place = string | readonly (string | number)[];

/** Gives a stored value as the record that it must be; throws UnreadableRecord. */
export type Reader<T> = (value: unknown, place: Place) => T;

export function readerOf<T>(kind: string, check: Check<T> | ShapeCheck<T>): Reader<T> {
  return (value, place) => {
    if (check(value)) return value;
    const fault = "fault" in check ? check.fault(value) : "it does not fit";
    throw new UnreadableRecord(kind, String(place), fault);
  };
}
