// Builds the browser element: a classic script, the panel's code beside it, a module with both, and a manifest.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { build as esbuild } from "esbuild";

// Every first visit of a page downloads all of it; beyond this size split the script, do not let it grow.
const BUDGET_BYTES = 30 * 1024;

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "..", "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** A stylesheet with its imports as minified text, for a constructed stylesheet, which no page policy forbids. */
const stylesheetText = {
  name: "stylesheet-text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const sheet = await esbuild({
        entryPoints: [path],
        bundle: true,
        minify: true,
        write: false,
        target: "chrome120",
      });
      return { contents: sheet.outputFiles[0].text.trim(), loader: "text" };
    });
  },
};

/**
 * Modules are bundled in the order of their imports, and gzip finds repetitions only within 32 KB. With stylesheet and
 * texts in front, the code is in one piece, which saves 400 bytes.
 */
const IN_FRONT = [
  "./view/shadow-renderer.ts",
  "./strings/language.ts",
  "../client/core/follow.ts",
  "./view/widget.tsx",
  "./run/tab/tab-run.ts",
  "./run/thread/followed-thread.ts",
  "./widget-props-of.ts",
];

/** One copy of preact for both files (view/preact-of-script.ts). */
const preactOfScript = {
  name: "preact-of-script",
  setup({ onResolve }) {
    onResolve({ filter: /^preact(\/jsx-runtime)?$/ }, () => ({
      path: join(here, "view/preact-of-script.ts"),
    }));
  },
};

/** The tab's chart (machines/tab.ts) runs by the widget's own interpreter: XState is larger than the whole widget. */
const xstateOfPage = {
  name: "xstate-of-page",
  setup({ onResolve }) {
    onResolve({ filter: /^xstate$/ }, () => ({ path: join(here, "chart/xstate.ts") }));
  },
};

/** The import of the third file becomes one of its name, beside the importing file. */
const thirdFileBeside = (file) => ({
  name: "third-file",
  setup({ onResolve }) {
    onResolve({ filter: /^chat-agent-formulas$/ }, () => ({ path: `./${file}`, external: true }));
  },
});

async function bundle({ entry, inFront = [], format, define = {}, plugins = [] }) {
  const imports = inFront.map((file) => `import "${file}";`);
  const contents = [...imports, `export * from "${entry}";`].join("\n");
  const result = await esbuild({
    stdin: { contents, resolveDir: here, loader: "ts" },
    bundle: true,
    minify: true,
    format,
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    define: { __VERSION__: JSON.stringify(version), ...define },
    plugins: [stylesheetText, xstateOfPage, ...plugins],
    write: false,
  });
  return Buffer.from(result.outputFiles[0].contents);
}

const integrityOf = (bytes) => `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

/** Writes the element's files into `widget/` of a folder. */
export async function build(folder) {
  // Each file names the next one by the hash of its content, so that files of two versions never mix.
  const formulas = await bundle({ entry: "./view/markdown/render-formula.ts", format: "esm" });
  const formulasFile = `chat-agent-formulas.${hashOf(formulas)}.mjs`;
  const thirdFile = {
    define: {
      __FORMULAS_FILE__: JSON.stringify(`./${formulasFile}`),
      __FORMULAS_INTEGRITY__: JSON.stringify(integrityOf(formulas)),
    },
    plugins: [thirdFileBeside(formulasFile)],
  };
  const panel = await bundle({
    entry: "./panel-chunk.ts",
    format: "esm",
    ...thirdFile,
    plugins: [preactOfScript, ...thirdFile.plugins],
  });
  const panelFile = `chat-agent-panel.${hashOf(panel)}.mjs`;
  const [script, module] = await Promise.all([
    bundle({
      entry: "./classic.ts",
      inFront: IN_FRONT,
      format: "iife",
      define: {
        __PANEL_FILE__: JSON.stringify(`./${panelFile}`),
        __PANEL_INTEGRITY__: JSON.stringify(integrityOf(panel)),
      },
    }),
    bundle({ entry: "./module.ts", inFront: IN_FRONT, format: "esm", ...thirdFile }),
  ]);
  const gzipBytes = gzipSync(script, { level: 9 }).length;
  if (gzipBytes > BUDGET_BYTES) {
    throw new Error(`Cannot build the widget: ${gzipBytes} bytes gzipped, the budget is ${BUDGET_BYTES}`);
  }

  const hash = hashOf(script);
  const manifest = { version, hash, integrity: integrityOf(script), gzipBytes, panelFile };
  const out = join(folder, "widget");
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "chat-agent.js"), script);
  writeFileSync(join(out, "chat-agent.mjs"), module);
  writeFileSync(join(out, panelFile), panel);
  writeFileSync(join(out, formulasFile), formulas);
  writeFileSync(join(out, "manifest.json"), `${JSON.stringify(manifest)}\n`);
  // Pages with subresource integrity load the files of released versions by their hash.
  const released = join(here, "released");
  for (const name of readdirSync(released).filter((file) => file.endsWith(".gz")))
    writeFileSync(join(out, name.slice(0, -3)), gunzipSync(readFileSync(join(released, name))));
}
