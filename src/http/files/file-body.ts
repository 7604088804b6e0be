import { z } from "zod";
import { MAX_FILE_NAME_CHARS } from "../../domain/threads/files.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { HttpAnswer, HttpRequest } from "../../listener.ts";
import { bytesOf, mustBePlain } from "../body.ts";
import type { Reading } from "../reading.ts";
import type { DeclaredBody } from "../endpoint.ts";

/** A file as a request brings it. */
export interface SentFile {
  /** As the form names it; null: a body that is the file itself. */
  name: string | null;
  bytes: Buffer;
}

/** What a form adds to its file: boundaries and heads. */
const FORM_BYTES = 4_096;

/** The body of an endpoint that takes a file: a form with one (multipart/form-data), or its bytes in any other type. */
export function fileBody(maxBytes: number): DeclaredBody<SentFile> {
  return {
    schema: z.custom<SentFile>(),
    example: null,
    read: (request, mayBeLong) => readFile(request, maxBytes, mayBeLong),
  };
}

async function readFile(
  request: HttpRequest,
  maxBytes: number,
  mayBeLong: () => Promise<void>,
): Promise<Reading<SentFile>> {
  const contentType = request.headers.get("content-type") ?? "";
  const isForm = /^multipart\/form-data\b/i.test(contentType);
  const body = await bytesOf(request, isForm ? maxBytes + FORM_BYTES : maxBytes, mayBeLong);
  try {
    mustBePlain(request.headers.get("content-encoding"));
    const file = isForm ? await fileOf(body, contentType) : { name: null, bytes: body };
    if (file.bytes.length > maxBytes) throw new Refusal("too-large");
    return { ok: true, value: file };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, refusal: error };
    throw error;
  }
}

/** The first file of a form. Throws Refusal("invalid"). */
async function fileOf(body: Buffer, contentType: string): Promise<SentFile> {
  const headers = { "content-type": contentType };
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => null);
  for (const value of form?.values() ?? []) {
    if (typeof value !== "string") return { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) };
  }
  throw new Refusal("invalid", "The form holds no file");
}

/** A name without a folder and without what nobody sees; "file": there is none. */
export function shownName(name: string | null): string {
  const last = (name ?? "").split(/[\\/]/).at(-1) ?? "";
  const shown = last.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, "").trim();
  return shown === "" ? "file" : shown.slice(-MAX_FILE_NAME_CHARS).toWellFormed();
}

/** A file as it is fetched: never shown as a page of this origin, whatever is in it. */
export function fileAnswer({
  file,
  bytes,
}: {
  file: { name: string; type: string };
  bytes: Uint8Array;
}): HttpAnswer {
  return {
    status: 200,
    headers: {
      "content-type": file.type.startsWith("text/") ? "text/plain; charset=utf-8" : file.type,
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=3600",
    },
    body: bytes,
  };
}
