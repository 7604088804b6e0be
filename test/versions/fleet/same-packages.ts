import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Would a service of one checkout run on the same packages as one of the other? Then one installation serves both, and no
 * minute is spent on another. What only the checks and builds use may differ.
 */
export function haveSamePackages(one: string, other: string): boolean {
  return servedPackages(one) === servedPackages(other);
}

interface Lock {
  packages: Record<string, { version?: string; integrity?: string; dev?: true }>;
}

function servedPackages(checkout: string): string {
  const { packages } = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8")) as Lock;
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== "" && dev !== true)
    .map(([path, { version, integrity }]) => `${path} ${version} ${integrity}`)
    .toSorted()
    .join("\n");
}
