// The inspector's page: one script, one stylesheet, and the page itself.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";

const page = fileURLToPath(new URL("page/", import.meta.url));

/** Writes them into the folder's `inspector/`. */
export async function build(folder) {
  const out = join(folder, "inspector");
  await esbuild({
    entryPoints: [join(page, "page.tsx"), join(page, "page.css")],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    outdir: out,
  });
  cpSync(join(page, "index.html"), join(out, "index.html"));
}
