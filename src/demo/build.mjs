// The demo shop's browser side: one script, one stylesheet, and the pictures.
import { cpSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const shop = fileURLToPath(new URL("shop/", import.meta.url));
const out = fileURLToPath(new URL("../../dist/demo/", import.meta.url));

const { outputFiles } = await build({
  entryPoints: [join(shop, "shop.ts"), join(shop, "shop.css")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  outdir: out,
  write: false,
});
mkdirSync(out, { recursive: true });
cpSync(join(shop, "pictures"), join(out, "pictures"), { recursive: true });
for (const { path, contents } of outputFiles) {
  // Each file is whole at any time: a demo page may be reading them.
  const unfinished = join(out, `.${basename(path)}.${process.pid}`);
  writeFileSync(unfinished, contents);
  renameSync(unfinished, path);
}
