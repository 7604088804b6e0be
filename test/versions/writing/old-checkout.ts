import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { haveSamePackages } from "../fleet/same-packages.ts";
import { HERE } from "../fleet/service-process.ts";

/** The sources of a commit in a folder of their own, ready to run. */
export interface OldCheckout {
  folder: string;
  commit: string;
  version: string;
  remove(): void;
}

export function openOldCheckout(revision: string): OldCheckout {
  const commit = execFileSync("git", ["rev-parse", `${revision}^{commit}`], { cwd: HERE })
    .toString()
    .trim();
  const folder = mkdtempSync(join(tmpdir(), "chat-agent-old-"));
  const sources = execFileSync("git", ["archive", commit], { cwd: HERE, maxBuffer: 256 * 1024 * 1024 });
  execFileSync("tar", ["-x"], { cwd: folder, input: sources });
  // Links cost a second, an installation a minute.
  if (haveSamePackages(folder, HERE)) {
    execFileSync("cp", ["-al", join(HERE, "node_modules"), folder]);
  } else {
    execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: folder, stdio: "inherit" });
  }
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return { folder, commit, version, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
