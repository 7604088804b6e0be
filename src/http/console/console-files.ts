import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHARTS } from "../../../machines/charts.ts";
import { codeOf } from "../../../machines/draw/code.ts";
import { DARK_SIDE } from "../../../machines/draw/dot.ts";
import { outlineOf } from "../../../machines/draw/outline.ts";

/** What src/console/build.mjs made. */
const BUILT = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../dist/console/" : "../../../console/", import.meta.url),
);
const PICTURE = new URL("../../../machines/thread.svg", import.meta.url);

export type Encoding = "br" | "gzip" | "identity";

/** A file of the console's page, as it is and compressed. */
export interface ConsoleFile {
  type: string;
  bodies: Partial<Record<Encoding, string | Uint8Array>> & { identity: string | Uint8Array };
  /** True for a name with the content's hash: the file never changes. */
  isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** A dot on the accent's green: what the tab shows. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#1d5c4d"/><path d="M8 10h16v10H15l-5 4v-4H8z" fill="#fff"/></svg>';

/** The page's files by path below /console; they hold nothing of anybody's, and need no key. Rejects if they were not built. */
export async function loadConsoleFiles(folder = BUILT): Promise<ReadonlyMap<string, ConsoleFile>> {
  const names = (await readdir(folder)).filter((name) => extname(name) in TYPES);
  const built = await Promise.all(
    names.map(async (name): Promise<[string, ConsoleFile]> => [
      name === "index.html" ? "" : `/${name}`,
      await builtFile(folder, name),
    ]),
  );
  return new Map([...built, ["/icon.svg", plain("image/svg+xml", ICON)], ...(await chartFiles())]);
}

async function builtFile(folder: string, name: string): Promise<ConsoleFile> {
  const read = (ending: string) => readFile(join(folder, name + ending));
  const [identity, gzip, br] = await Promise.all([read(""), read(".gz"), read(".br")]);
  return {
    type: TYPES[extname(name)] ?? "",
    bodies: { identity, gzip, br },
    isImmutable: name !== "index.html",
  };
}

/** The thread's chart: its picture, its colours in the dark, its outline, and its code for other editors. */
async function chartFiles(): Promise<[string, ConsoleFile][]> {
  const { thread } = CHARTS;
  const svg = await readFile(PICTURE, "utf8");
  return [
    // Without its inline style, which is for viewers: the page's policy allows only its own files.
    ["/thread.svg", plain("image/svg+xml; charset=utf-8", svg.replace(/<style>[^<]*<\/style>\n/, ""))],
    ["/chart.css", plain("text/css; charset=utf-8", DARK_SIDE)],
    ["/thread.json", plain("application/json; charset=utf-8", JSON.stringify(outlineOf(thread)))],
    ["/thread.js", plain("text/javascript; charset=utf-8", codeOf(thread))],
  ];
}

function plain(type: string, identity: string | Uint8Array): ConsoleFile {
  return { type, bodies: { identity }, isImmutable: false };
}
