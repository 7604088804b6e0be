import { z } from "zod";
import { isVersion, versionsOf } from "../domain/versions.ts";
import type { Step } from "../domain/versions.ts";
import { NewerRecord, UnreadableRecord } from "../store.ts";

/**
 * Checks what is read back from a store. Written by hand, because every load reads a hundred records: a value that
 * fits is passed on as it is, so nothing is copied, and fields that this version does not know stay.
 */
export interface Check<T> {
  (value: unknown): value is T;
  /** A short text for what it accepts: a record whose form changes needs a new version (versions.ts). */
  readonly form: string;
}

/** A check with its form. */
export function check<T>(form: string, fits: (value: unknown) => value is T): Check<T> {
  return Object.assign(fits, { form });
}

/** A field that a record may lack. */
interface Optional<T> {
  optional: Check<T>;
}

/** A field that records of an earlier version lack: it gets a default. */
interface Defaulted<T> {
  check: Check<T>;
  missing: () => T;
}

/** A check for each field of a record: a field that is added to the type does not compile until it has one. */
export type Fields<T> = {
  [Name in keyof T]-?: Partial<T> extends Pick<T, Name>
    ? Optional<T[Name]>
    : Check<T[Name]> | Defaulted<T[Name]>;
};

export const isText = check("text", (value): value is string => typeof value === "string");
export const isNumber = check("number", (value): value is number => typeof value === "number");
export const isFlag = check("flag", (value): value is boolean => typeof value === "boolean");
export const isObject = check(
  "object",
  (value): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value),
);

/** Exactly this value. */
export function literal<const T>(expected: T): Check<T> {
  return check(JSON.stringify(expected), (value): value is T => value === expected);
}

/** One of these texts: one that is added to the type does not compile until it is here. */
export function oneOf<T extends string>(texts: Record<T, true>): Check<T> {
  const known = new Set<unknown>(Object.keys(texts));
  return check(Object.keys(texts).sort().join("|"), (value): value is T => known.has(value));
}

export function either<A, B>(one: Check<A>, other: Check<B>): Check<A | B> {
  return check(`${one.form} or ${other.form}`, (value): value is A | B => one(value) || other(value));
}

export function nullable<T>(some: Check<T>): Check<T | null> {
  return check(`${some.form} or null`, (value): value is T | null => value === null || some(value));
}

export function listOf<T>(each: Check<T>): Check<T[]> {
  return check(`[${each.form}]`, (value): value is T[] => Array.isArray(value) && value.every(each));
}

export function mapOf<T>(each: Check<T>): Check<Record<string, T>> {
  return check(
    `map of ${each.form}`,
    (value): value is Record<string, T> => isObject(value) && Object.values(value).every(each),
  );
}

export function optional<T>(some: Check<T>): Optional<T> {
  return { optional: some };
}

export function defaulted<T>(some: Check<T>, missing: () => T): Defaulted<T> {
  return { check: some, missing };
}

/** A union: each kind is checked by its `type`. */
export function byType<T extends { type: string }>(kinds: {
  [Type in T["type"]]: Check<Extract<T, { type: Type }>>;
}): Check<T> {
  const checks = new Map<unknown, Check<T>>(Object.entries<Check<T>>(kinds));
  const forms = [...checks.values()].map(({ form }) => form).sort();
  return check(
    forms.join(" or "),
    (value): value is T => isObject(value) && (checks.get(value["type"])?.(value) ?? false),
  );
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

  /** The first field that does not fit; null if all do. */
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

  const forms = list.map(({ name, check: { form }, mayLack, missing }) => {
    return `${name}${mayLack ? "?" : ""}${missing ? "=" : ""}: ${form}`;
  });
  const fits = (value: unknown): value is T => isObject(value) && misfit(value) === null;
  return Object.assign(check(`{ ${forms.sort().join(", ")} }`, fits), {
    fault: (value: unknown) => (isObject(value) ? `its ${misfit(value)} does not fit` : "it is no object"),
  });
}

/** The check of what a schema of src/protocol describes, for the kinds that are stored. */
export function checkOf<T>(schema: z.ZodType<T>): Check<T> {
  // A cast: what the schema describes has its type.
  return checkBySchema(schema) as Check<T>;
}

function checkBySchema(schema: z.core.$ZodType): Check<unknown> {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape).map(([name, field]) => {
      const isOptional = field instanceof z.ZodExactOptional;
      return [name, isOptional ? optional(checkBySchema(field.unwrap())) : checkBySchema(field)];
    });
    return shape(Object.fromEntries(fields));
  }
  if (schema instanceof z.ZodLiteral) return literal(schema.value);
  if (schema instanceof z.ZodEnum) return oneOf(Object.fromEntries(schema.options.map((one) => [one, true])));
  if (schema instanceof z.ZodString) return isText;
  if (schema instanceof z.ZodNumber) return isNumber;
  if (schema instanceof z.ZodRecord) return isObject;
  if (schema instanceof z.ZodArray) return listOf(checkBySchema(schema.element));
  throw new Error(`Cannot check by a schema: ${schema._zod.def.type} is not stored`);
}

/** Where a record is: its key in Redis or in lmdb, or another text that tells an operator where to look. */
export type Place = string | readonly (string | number)[];

/** Checks a stored value and returns it as a record; throws UnreadableRecord. */
export type Reader<T> = (value: unknown, place: Place) => T;

export function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof UnreadableRecord) return false;
    throw error;
  }
}

/** A record of one kind: how it is read, in any version, and how it is written. */
export interface RecordKind<T> {
  name: string;
  /** The current version; 1 is that of 0.1.0. */
  version: number;
  form: string;
  read: Reader<T>;
  /** As it is stored: in the oldest version that can hold it. */
  stored: (record: T) => unknown;
}

export type RecordStep = Step<Record<string, unknown>>;

/** `steps`: from each version to the next, beginning with version 1; released ones are never changed. */
export function kindOf<T>(
  name: string,
  fits: Check<T> | ShapeCheck<T>,
  steps: readonly RecordStep[] = [],
): RecordKind<T> {
  const versions = versionsOf(steps);

  function current(value: unknown, place: Place): unknown {
    // A record's version is its `v`; what 0.1.0 wrote has none.
    if (!isObject(value) || value["v"] === undefined)
      return versions.present === 1 ? value : upgraded(value, 1);
    const { v, ...record } = value;
    if (isVersion(v) && v > versions.present) throw new NewerRecord(name, String(place), v);
    return upgraded(record, isVersion(v) ? v : 1);
  }

  function upgraded(value: unknown, from: number): unknown {
    if (!isObject(value)) return value;
    try {
      return versions.upgrade(value, from);
    } catch {
      // Not a record of that version: a step failed on it.
      return undefined;
    }
  }

  return {
    name,
    version: versions.present,
    form: fits.form,
    read(value, place) {
      const record = current(value, place);
      if (fits(record)) return record;
      const fault = "fault" in fits ? fits.fault(record) : "it does not fit";
      throw new UnreadableRecord(name, String(place), fault);
    },
    stored(record) {
      if (versions.present === 1 || !isObject(record)) return record;
      const { form, version } = versions.oldest(record);
      return version === 1 ? form : { ...form, v: version };
    },
  };
}

function carriesVersion(value: unknown): boolean {
  return isObject(value) && value["v"] !== undefined;
}

/** A list of records, each with its own version. */
export function listKindOf<T>(
  name: string,
  fits: Check<T> | ShapeCheck<T>,
  steps: readonly RecordStep[] = [],
): RecordKind<T[]> {
  const each = kindOf(name, fits, steps);
  const allFit = listOf<T>(fits);
  return {
    ...each,
    form: `[${each.form}]`,
    read(value, place) {
      if (each.version === 1 && allFit(value) && !value.some(carriesVersion)) return value;
      const misfit = () => new UnreadableRecord(name, String(place), "it does not fit");
      if (!Array.isArray(value)) throw misfit();
      try {
        return value.map((record: unknown) => each.read(record, place));
      } catch (error) {
        if (!(error instanceof NewerRecord)) throw misfit();
        throw new NewerRecord(name, String(place), error.version);
      }
    },
    stored: (records) => records.map(each.stored),
  };
}

/** A record that will always have one version: a text, a number. */
export function readerOf<T>(name: string, fits: Check<T> | ShapeCheck<T>): Reader<T> {
  return kindOf(name, fits).read;
}
