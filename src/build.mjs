// `npm run build`: TypeScript to plain JavaScript in dist/, and beside it the files that are not TypeScript. Types are
// `npm run types`. Nothing is built where dist/ is up to date; `--check` builds nothing, and says whether dist/ can run.
import { chmodSync, cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { putInPlace, stateOf, unfinishedFolder } from "./build-in-place.mjs";
import { digestOf, filesBelow } from "./build-sources.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

/** Code for browsers, each a bundle of its own that its build script makes. */
const BUNDLES = {
  "src/widget": "widget",
  "src/demo/shop": "demo",
  "src/console": "console",
};
const BUNDLE_SCRIPTS = ["src/widget/build.mjs", "src/demo/build.mjs", "src/console/build.mjs"];
const ASSETS = [
  "src/stores/engines/redis/apply.lua",
  "machines/thread.svg",
  "src/demo/rules",
  "src/client/client.d.ts",
  "src/widget/element-package.d.ts",
  "src/widget/element.d.ts",
  "src/widget/element-react.d.ts",
  "src/widget/element-vue.d.ts",
];

const sources = digestOf(root, ["src", "machines", "package.json", "package-lock.json", "tsconfig.json"]);
const { state, why } = stateOf(dist, sources);

if (process.argv.includes("--check")) check();
else if (process.argv.includes("--bench")) await compile(dist, ["bench", "test/support"]);
else if (state !== "fresh") await build();

function check() {
  if (state === "fresh") return;
  if (state === "stale") {
    console.error("Note: dist/ is older than the sources; npm run build brings it up to date");
    return;
  }
  console.error(`Cannot start: ${why}; npm run build builds it`);
  process.exit(1);
}

/** Everything is made beside dist/ first: a service that runs from it misses no file at any time. */
async function build() {
  const out = unfinishedFolder(dist);
  await compile(out, ["src", "machines"]);
  // The command runs as a file of its own.
  chmodSync(join(out, "src/cli/chat-agent.js"), 0o755);
  for (const asset of ASSETS) {
    if (!existsSync(join(root, asset))) continue;
    mkdirSync(dirname(join(out, asset)), { recursive: true });
    cpSync(join(root, asset), join(out, asset), { recursive: true });
  }
  for (const script of BUNDLE_SCRIPTS) {
    const { build: bundle } = await import(pathToFileURL(join(root, script)).href);
    await bundle(out);
  }
  putInPlace(out, dist, sources);
}

/** A file for each file, with its imports' `.ts` turned into `.js`. */
async function compile(out, folders) {
  const { build: esbuild } = await loadEsbuild();
  const isForBrowsers = (file) => Object.keys(BUNDLES).some((folder) => file.startsWith(`${folder}/`));
  const entryPoints = folders
    .flatMap((folder) => filesBelow(root, folder))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts") && !isForBrowsers(file));
  await esbuild({
    absWorkingDir: root,
    entryPoints,
    outbase: ".",
    outdir: out,
    // Only a bundle's imports can be changed; as all of them stay outside, each file stays a file.
    bundle: true,
    plugins: [{ name: "imports-stay", setup: ({ onResolve }) => onResolve({ filter: /.*/ }, outside) }],
    format: "esm",
    platform: "node",
    target: "node20",
    treeShaking: false,
    charset: "utf8",
    sourcemap: true,
    sourcesContent: false,
    tsconfig: join(root, "tsconfig.json"),
  });
}

function outside({ path, kind }) {
  return kind === "entry-point" ? undefined : { path: path.replace(/^(\..*)\.ts$/, "$1.js"), external: true };
}

async function loadEsbuild() {
  try {
    return await import("esbuild");
  } catch (error) {
    console.error(
      `Cannot build: esbuild is not installed here (${error.code ?? error.message}); npm ci installs it`,
    );
    process.exit(1);
  }
}
