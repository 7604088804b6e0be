// The inspector's page: one script, one stylesheet, and the page itself.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const page = fileURLToPath(new URL("page/", import.meta.url));
const out = fileURLToPath(new URL("../../dist/inspector/", import.meta.url));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
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
