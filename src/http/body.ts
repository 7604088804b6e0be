import { z } from "zod";
import { Refusal } from "../domain/refusal.ts";
import type { HttpRequest } from "../listener.ts";
import type { Endpoint, QueryFields } from "./endpoint.ts";
import type { Reading } from "./reading.ts";
import { leaveOutNulls } from "./leave-out-nulls.ts";

export interface BodyShape<Value> {
  schema: z.ZodType<Value>;
  /** Throws a Refusal for rules that a schema cannot express: the character limits. */
  check?: (value: Value) => void;
  /** The value of a missing body; by default a missing body is refused as no JSON. */
  empty?: Value;
}

/** A longer body is read only after its sender is known, so that a stranger's request costs no more than this. */
const LONG_BODY_BYTES = 4_096;

/** The bytes of a body. A body that is long, or of unknown length, waits for `mayBeLong`, which rejects an unknown sender. */
export async function bytesOf(
  request: HttpRequest,
  limitBytes: number,
  mayBeLong: () => Promise<void>,
): Promise<Buffer> {
  const { contentLength } = request;
  if (contentLength === null || contentLength > LONG_BODY_BYTES) await mayBeLong();
  return request.body(limitBytes);
}

/** `mayBeLong`: see `bytesOf`. */
export async function readBody<Value>(
  request: HttpRequest,
  limitBytes: number,
  shape: BodyShape<Value>,
  mayBeLong: () => Promise<void>,
): Promise<Reading<Value>> {
  const bytes = await bytesOf(request, limitBytes, mayBeLong);
  if (bytes.length === 0 && shape.empty !== undefined) return { ok: true, value: shape.empty };
  return attempt(() => {
    mustBePlain(request.headers.get("content-encoding"));
    mustBeJson(request.headers.get("content-type"));
    // In a PATCH null takes a value away: one that cannot be taken away is refused, not left out.
    const nullIsAbsent = request.method !== "PATCH";
    const value = parseWith(shape.schema, parseJson(bytes), { nullIsAbsent });
    shape.check?.(value);
    return value;
  });
}

/** Like `readBody`, for use after all other checks: throws the refusal. */
export async function bodyOf<Value>(
  request: HttpRequest,
  limitBytes: number,
  shape: BodyShape<Value>,
): Promise<Value> {
  return unwrap(await readBody(request, limitBytes, shape, async () => {}));
}

const NO_BODY: Reading<null> = { ok: true, value: null };

/** How the requests of an endpoint are read: its body, or null where it declares none and a POST's is ignored. */
export function bodyReader(
  { method, body }: Pick<Endpoint, "method" | "body">,
  limitBytes: number,
): (request: HttpRequest, mayBeLong: () => Promise<void>) => Promise<Reading<unknown>> {
  if (body?.read) return body.read;
  if (body) {
    const { schema, check, optional } = body;
    const shape = { schema, ...(check ? { check } : {}), ...(optional ? { empty: schema.parse({}) } : {}) };
    return (request, mayBeLong) => readBody(request, limitBytes, shape, mayBeLong);
  }
  return async (request, mayBeLong) => {
    if (method === "POST") await bytesOf(request, limitBytes, mayBeLong);
    return NO_BODY;
  };
}

/** The value, or the refusal as a value. */
export function attempt<Value>(reader: () => Value): Reading<Value> {
  try {
    return { ok: true, value: reader() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, refusal: error };
    throw error;
  }
}

/** The value, or the refusal thrown. */
export function unwrap<Value>(reading: Reading<Value>): Value {
  if (!reading.ok) throw reading.refusal;
  return reading.value;
}

const ANY_TEXT = z.string().nullable().default(null);
const NO_QUERY = {};

/** How the query of an endpoint is read. The reader throws Refusal("invalid"). */
export function queryReader(fields: QueryFields = {}): (request: Pick<HttpRequest, "query">) => object {
  const schemas = Object.entries(fields).map(([name, { schema = ANY_TEXT }]) => [name, schema] as const);
  if (schemas.length === 0) return () => NO_QUERY;
  const whole = z.object(Object.fromEntries(schemas));
  return (request) => queryOf(request, whole);
}

/** Parses the query by the schema. Throws Refusal("invalid"). */
export function queryOf<Value>(request: Pick<HttpRequest, "query">, schema: z.ZodType<Value>): Value {
  return parseWith(schema, Object.fromEntries(new URLSearchParams(request.query)), { where: "query" });
}

/**
 * Parses a part of a body, or a query. Fields that are null count as absent where null is no value of theirs: many
 * serializers write every field that is unset as null, by default. Throws Refusal("invalid"), which names the first
 * invalid field, never its value.
 */
export function parseWith<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  { where = "body", nullIsAbsent = true }: { where?: "body" | "query"; nullIsAbsent?: boolean } = {},
): Value {
  let parsed = schema.safeParse(value);
  while (!parsed.success && nullIsAbsent && leaveOutNulls(schema, value, parsed.error.issues)) {
    parsed = schema.safeParse(value);
  }
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.map(String).join(".") ?? "";
  // The path quotes the caller's own keys, which may be of any length.
  throw new Refusal(
    "invalid",
    field === "" ? "" : `The ${where} does not match the schema: ${printable(field)}`,
  );
}

function printable(field: string): string {
  return field.replace(/[^\w.-]/g, "?").slice(0, 80);
}

/** Throws Refusal("unsupported-encoding"). */
export function mustBePlain(encoding: string | undefined): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  throw new Refusal("unsupported-encoding");
}

/**
 * Any page could send another type without a preflight, whatever its origin. Parameters say nothing of the type (RFC 8259,
 * section 11, defines none), except a charset that is not the bytes'.
 */
function mustBeJson(contentType: string | undefined): void {
  const [type, ...parameters] = (contentType ?? "").toLowerCase().split(";");
  if (type?.trim() === "application/json" && !parameters.some(isOtherCharset)) return;
  throw new Refusal("invalid", "The content-type must be application/json in UTF-8");
}

/** Names by which clients call it; ASCII is a part of it. */
const UTF8_NAMES: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii"]);

function isOtherCharset(parameter: string): boolean {
  const [name, value = ""] = parameter.split("=").map((part) => part.trim());
  return name === "charset" && !UTF8_NAMES.has(value.replaceAll('"', ""));
}

// Leaves out a byte order mark, which RFC 8259, section 8.1, lets a parser ignore.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Throws Refusal("invalid") unless the bytes are JSON in UTF-8, without a number that JavaScript parses as infinite. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text.includes("\\u") ? withoutLoneSurrogates(text) : text);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError))
      throw error;
    throw new Refusal("invalid", "The body is not JSON in UTF-8");
  }
  // 1e400 parses to Infinity, which JSON cannot express. Shorter literals than these are finite.
  if (/\d{200}|[eE]\+?\d{3}/.test(text) && holdsInfinity(value)) {
    throw new Refusal("invalid", "The body holds a number that is too large");
  }
  return value;
}

/**
 * Lone surrogates are replaced, not stored. UTF-8 cannot carry them, so they come as escapes, and escapes stand only in
 * strings: pairs and all other escapes are stepped over, whatever is left of D800 to DFFF is alone.
 */
function withoutLoneSurrogates(json: string): string {
  return json.replace(
    /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\[^]/g,
    (escape) => (escape.length === 6 ? "\\ufffd" : escape),
  );
}

/** Not recursive: a body may be nested deeper than the call stack allows. */
function holdsInfinity(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (next === Infinity || next === -Infinity) return true;
    if (typeof next === "object" && next !== null) for (const part of Object.values(next)) left.push(part);
  }
  return false;
}
