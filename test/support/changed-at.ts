import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Was this file, below the root, written before any of the sources, or never? A folder is as new as its newest file. */
export function isStale(made: string, sources: string[]): boolean {
  return changedAtMs(made) <= Math.max(...["package.json", ...sources].map(changedAtMs));
}

function changedAtMs(path: string): number {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(0, ...readdirSync(join(root, path)).map((name) => changedAtMs(join(path, name))));
}
