import { isRecord } from "../../is-record.ts";
import { isDeeperThan } from "../tools/picked-schema.ts";
import type { Schema } from "../tools/picked-schema.ts";

/** Longer than the schema of any form; a model reads it in every turn. */
const MOST_SCHEMA_CHARS = 64_000;
/** As deep as what models' servers take, and more than any form has. */
const MOST_DEPTH = 64;

export type MendedSchema =
  /** `mends`: what was changed, in words; none: nothing. */
  { fits: true; schema: Schema; mends: string[] } | { fits: false; reason: string };

/**
 * A tool's `inputSchema` as servers really send it, made into what the models' servers take: a JSON Schema of an object whose
 * parts are schemas. Mended is what has one meaning only; each mend allows more than before and never less, since the server
 * checks its arguments itself. Anything else does not fit, with the reason.
 */
export function mendedSchema(untrusted: unknown): MendedSchema {
  if (untrusted === undefined || untrusted === null || untrusted === true) {
    const mends = [`its inputSchema is ${untrusted === undefined ? "missing" : String(untrusted)}`];
    return { fits: true, schema: { type: "object", properties: {} }, mends };
  }
  if (!isRecord(untrusted)) return { fits: false, reason: "its inputSchema is no JSON Schema" };
  if (isDeeperThan(untrusted, MOST_DEPTH))
    return { fits: false, reason: "its inputSchema is nested too deeply" };
  const { length } = JSON.stringify(untrusted);
  if (length > MOST_SCHEMA_CHARS) {
    const reason = `its inputSchema has ${length} characters, and may have ${MOST_SCHEMA_CHARS}`;
    return { fits: false, reason };
  }
  const mends: string[] = [];
  const { type } = untrusted;
  const isObject = type === "object";
  if (!isObject) {
    const mayBeObject =
      type === undefined || type === null || (Array.isArray(type) && type.includes("object"));
    if (!mayBeObject) return { fits: false, reason: `its inputSchema is of another type than object` };
    mends.push("its inputSchema has no type object");
  }
  return { fits: true, schema: { ...mended(untrusted, "", mends), type: "object" }, mends };
}

/** Keywords that hold schemas by name, in a list, or one. What a model's server cannot take of their values is replaced. */
const BY_NAME = new Set(["properties", "$defs", "definitions"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SINGLE = new Set(["items", "not", "additionalItems", "contains"]);

/** Names of this many mends are told; a schema may need any number. */
const MOST_MENDS = 3;

function mended(schema: Schema, place: string, mends: string[]): Schema {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      const here = `${place}${keyword}`;
      if (value === null && keyword !== "default" && keyword !== "const") return drop(here, "null", mends);
      if (BY_NAME.has(keyword)) {
        if (!isRecord(value)) return drop(here, "no object", mends);
        const parts = Object.entries(value).map(([name, part]) => [
          name,
          subSchema(part, `${here}.${name}`, mends),
        ]);
        return [[keyword, Object.fromEntries(parts)]];
      }
      if (LISTS.has(keyword)) {
        if (!Array.isArray(value) || value.length === 0) return drop(here, "no list of schemas", mends);
        return [[keyword, value.map((part, nth) => subSchema(part, `${here}.${nth}`, mends))]];
      }
      if (keyword === "additionalProperties" && typeof value !== "boolean") {
        return isRecord(value)
          ? [[keyword, mended(value, `${here}.`, mends)]]
          : drop(here, "no schema", mends);
      }
      // The list form of `items` is that of drafts before 2020-12, and stays.
      if (SINGLE.has(keyword) && !Array.isArray(value)) return [[keyword, subSchema(value, here, mends)]];
      if (keyword === "required" && !isTexts(value)) return drop(here, "no list of names", mends);
      return [[keyword, value]];
    }),
  );
}

function subSchema(part: unknown, place: string, mends: string[]): Schema {
  if (isRecord(part)) return mended(part, `${place}.`, mends);
  note(mends, `${place} is ${typeof part === "boolean" ? String(part) : "no schema"}`);
  // `false` allows nothing: in the form that every server of a model reads.
  return part === false ? { not: {} } : {};
}

function drop(place: string, what: string, mends: string[]): [] {
  note(mends, `${place} is ${what}`);
  return [];
}

function note(mends: string[], mend: string): void {
  if (mends.length < MOST_MENDS) mends.push(mend);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
