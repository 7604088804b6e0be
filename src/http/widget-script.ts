import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { z } from "zod";
import type { HttpAnswer } from "../listener.ts";
import { emptyAnswer } from "./route.ts";
import type { Route } from "./route.ts";
import { acceptsGzip } from "./stream/accepts-gzip.ts";

/** The folder that src/widget/build.mjs writes. */
const BUILT = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/widget/" : "../../widget/", import.meta.url),
);

const Manifest = z.object({ hash: z.string() });

/** A name that contains the content's hash: of this build, or of a released version, which pages may still use. */
const HASHED = /^chat-agent[\w-]*\.[0-9a-f]{16}\.m?js$/;

interface ScriptFile {
  bytes: Buffer;
  gzipped: Buffer;
  etag: string;
  /** True for a name with the content's hash: the file never changes. */
  isImmutable: boolean;
}

/** The element's files by the name that a page requests; read once. */
export type WidgetScript = ReadonlyMap<string, ScriptFile>;

/** Rejects if the widget was not built (`npm run build`). */
export async function loadWidgetScript(folder = BUILT): Promise<WidgetScript> {
  const read = (name: string) => readFile(join(folder, name));
  const { hash } = Manifest.parse(JSON.parse(String(await read("manifest.json"))));
  const hashed = (await readdir(folder)).filter((name) => HASHED.test(name));
  const [script, module] = await Promise.all(["chat-agent.js", "chat-agent.mjs"].map(read));
  if (script === undefined || module === undefined)
    throw new Error("Cannot load the widget: a file is missing");
  return new Map([
    // A released build is among those that are kept, too: its own entry comes after.
    ...(await Promise.all(
      hashed.map(async (name) => [name, await scriptFile(await read(name), name, true)] as const),
    )),
    ["chat-agent.js", await scriptFile(script, hash, false)],
    [`chat-agent.${hash}.js`, await scriptFile(script, hash, true)],
    ["chat-agent.mjs", await scriptFile(module, `${hash}-module`, false)],
  ]);
}

/** The script's name with its content's hash, and the integrity value for a page's script tag. */
export function pinnedScript(files: WidgetScript): { name: string; integrity: string } | null {
  const script = files.get("chat-agent.js");
  for (const [name, { bytes, isImmutable }] of files) {
    if (!isImmutable || bytes !== script?.bytes) continue;
    return { name, integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}` };
  }
  return null;
}

/** GET /widget/v1/chat-agent.js: the element, for every page of every origin. */
export function widgetRoute(files: WidgetScript): Route {
  return {
    method: "GET",
    path: "/widget/v1/*",
    api: "open",
    documentation: "hidden",
    handle: ({ request }) => Promise.resolve(widgetScriptAnswer(files, request) ?? emptyAnswer(404)),
  };
}

/**
 * The answer to a GET of `/widget/v1/NAME`, for every page of every origin (contract, Not endpoints of the API).
 * null if there is no such file.
 */
export function widgetScriptAnswer(
  files: WidgetScript,
  request: { path: string; headers: ReadonlyMap<string, string> },
): HttpAnswer | null {
  const file = files.get(/^\/widget\/v1\/([\w.-]+)$/.exec(request.path)?.[1] ?? "");
  if (file === undefined) return null;
  const headers = {
    "content-type": "text/javascript; charset=utf-8",
    etag: file.etag,
    // Pages keep the plain name for ever: it is cached briefly, so that they get a new version within minutes.
    "cache-control": file.isImmutable ? "public, max-age=31536000, immutable" : "public, max-age=300",
    "cross-origin-resource-policy": "cross-origin",
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
    vary: "accept-encoding",
  };
  if (matches(request.headers.get("if-none-match"), file.etag)) return { status: 304, headers };
  if (!acceptsGzip(request.headers.get("accept-encoding"))) return { status: 200, headers, body: file.bytes };
  return { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body: file.gzipped };
}

async function scriptFile(bytes: Buffer, tag: string, isImmutable: boolean): Promise<ScriptFile> {
  // Weak: the gzipped and the plain body are the same script.
  return { bytes, gzipped: await promisify(gzip)(bytes, { level: 9 }), etag: `W/"${tag}"`, isImmutable };
}

/** A browser sends the one that it has. */
const MOST_TAGS = 20;

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",", MOST_TAGS).map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag.replace(/^W\//, ""));
}
