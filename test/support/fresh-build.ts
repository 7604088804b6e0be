import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { isStale, root } from "./changed-at.ts";

/** Before tests that start the service as a process: `npm run build`, where the sources are newer than the last one. */
export function setup(): void {
  if (!isStale("dist/src/cli/chat-agent.js", ["src", "machines", "tsconfig.build.json"])) return;
  execFileSync(process.execPath, [join(root, "src/build.mjs")], { stdio: "inherit" });
}
