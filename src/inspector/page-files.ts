import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DARK_SIDE } from "../../machines/draw/dot.ts";
import { outlineOf } from "../../machines/draw/outline.ts";
import { threadMachine } from "../../machines/thread.ts";

/** The folder that src/inspector/build.mjs writes. */
const BUILT = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/inspector/" : "../../inspector/", import.meta.url),
);
const MACHINES = fileURLToPath(new URL("../../machines/", import.meta.url));

export interface PageFile {
  type: string;
  body: string | Uint8Array;
}

/** The page's files by path below /machines; they contain no user data, and need no key. */
export const PAGE_FILES: Readonly<Record<string, () => Promise<PageFile>>> = {
  "": () => built("text/html; charset=utf-8", "index.html"),
  "/page.js": () => built("text/javascript; charset=utf-8", "page.js"),
  "/page.css": () => built("text/css; charset=utf-8", "page.css"),
  "/chart.css": async () => ({ type: "text/css; charset=utf-8", body: DARK_SIDE }),
  "/thread.svg": async () => ({ type: "image/svg+xml; charset=utf-8", body: await picture() }),
  "/thread.json": async () => ({
    type: "application/json; charset=utf-8",
    body: JSON.stringify(outlineOf(threadMachine)),
  }),
};

/** The chart's SVG without its inline style, which is for viewers: the page's policy allows only its own files. */
async function picture(): Promise<string> {
  const svg = await readFile(join(MACHINES, "thread.svg"), "utf8");
  return svg.replace(/<style>[^<]*<\/style>\n/, "");
}

async function built(type: string, name: string): Promise<PageFile> {
  return { type, body: await readFile(join(BUILT, name)) };
}
