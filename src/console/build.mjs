// The operators' console: a script in pieces, a stylesheet, and the page that names them by the hashes of their contents.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build as esbuild } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Writes them into `console/` of a folder, each also compressed: the service only picks. */
export async function build(folder) {
  const out = join(folder, "console");
  const { metafile, outputFiles } = await esbuild({
    entryPoints: [join(here, "page.tsx"), join(here, "page.css")],
    bundle: true,
    // What draws plots is loaded where there is one.
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    charset: "utf8",
    entryNames: "[name]-[hash]",
    chunkNames: "part-[hash]",
    absWorkingDir: here,
    outdir: out,
    metafile: true,
    write: false,
  });
  mkdirSync(out, { recursive: true });
  for (const { path, contents } of outputFiles) writeThrice(path, contents);
  const nameOf = (entry) => {
    const found = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry);
    return basename(found[0]);
  };
  const page = readFileSync(join(here, "index.html"), "utf8")
    .replace("page.tsx", nameOf("page.tsx"))
    .replace("page.css", nameOf("page.css"));
  writeThrice(join(out, "index.html"), Buffer.from(page));
}

function writeThrice(path, contents) {
  writeFileSync(path, contents);
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length };
  writeFileSync(`${path}.br`, brotliCompressSync(contents, { params }));
}
