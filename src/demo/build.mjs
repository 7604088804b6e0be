// The demo shop's browser side: one script, one stylesheet, and the pictures.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";

const shop = fileURLToPath(new URL("shop/", import.meta.url));

/** Writes them into the folder's `demo/`. */
export async function build(folder) {
  const out = join(folder, "demo");
  await esbuild({
    entryPoints: [join(shop, "shop.ts"), join(shop, "shop.css")],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    outdir: out,
  });
  cpSync(join(shop, "pictures"), join(out, "pictures"), { recursive: true });
}
