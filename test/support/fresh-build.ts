import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Before any test: `npm run build`, for the browser's files and for tests that start the service as a process. */
export function setup(): void {
  execFileSync(process.execPath, [join(root, "src/build.mjs")], { stdio: "inherit" });
}
