// `npm run build`: TypeScript to plain JavaScript in dist/, and beside it the files that are not TypeScript.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");

rmSync(join(root, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], {
  stdio: "inherit",
  cwd: root,
});

// The command runs as a file of its own.
chmodSync(join(root, "dist/src/cli/chat-agent.js"), 0o755);

for (const asset of ["src/stores/redis/functions", "machines/thread.svg"]) {
  if (existsSync(join(root, asset)))
    cpSync(join(root, asset), join(root, "dist", asset), { recursive: true });
}

// The browser element, the demo page and the inspector's page bundle themselves.
for (const step of ["src/widget/build.mjs", "src/demo/build.mjs", "src/inspector/build.mjs"]) {
  if (existsSync(join(root, step))) await import(pathToFileURL(join(root, step)).href);
}
