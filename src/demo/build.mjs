// The demo shop's browser side: one script, one stylesheet, and the pictures.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const shop = fileURLToPath(new URL("shop/", import.meta.url));
const out = fileURLToPath(new URL("../../dist/demo/", import.meta.url));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  entryPoints: [join(shop, "shop.ts"), join(shop, "shop.css")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  outdir: out,
});
cpSync(join(shop, "pictures"), join(out, "pictures"), { recursive: true });
