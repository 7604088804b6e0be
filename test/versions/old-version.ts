import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { haveSamePackages } from "./same-packages.ts";
import { HERE } from "./service-process.ts";

/** 0.1.0, the first version. */
export const FIRST_RELEASE = "24037b8";

/** Is the commit in this checkout's history? A copy without one cannot build it. */
export function hasCommit(commit: string): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: HERE, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The sources of a commit, with the packages that it needs: made once, kept by its name under node_modules/.cache. */
export function oldVersion(commit: string): string {
  const cache = join(HERE, "node_modules", ".cache", "chat-agent-versions");
  const folder = join(cache, commit);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const making = mkdtempSync(join(cache, "making-"));
  const sources = execFileSync("git", ["archive", commit], { cwd: HERE, maxBuffer: 256 * 1024 * 1024 });
  execFileSync("tar", ["-x"], { cwd: making, input: sources });
  if (haveSamePackages(making, HERE)) symlinkSync(join(HERE, "node_modules"), join(making, "node_modules"));
  else execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: making, stdio: "inherit" });
  try {
    renameSync(making, folder);
  } catch (error) {
    // Another test made it meanwhile.
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
