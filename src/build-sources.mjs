// What a build is made of.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The files below a folder, or the file itself, by their paths from the root, in order. Hidden ones are none of ours. */
export function filesBelow(root, path) {
  if (!existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .filter((name) => !name.startsWith(".") && name !== "node_modules")
    .sort()
    .flatMap((name) => filesBelow(root, `${path}/${name}`));
}

/** One digest of all that is built, and of what builds it. By content: a checkout or a copy changes every file's time. */
export function digestOf(root, paths) {
  const digest = createHash("sha256");
  for (const file of paths.flatMap((path) => filesBelow(root, path))) {
    if (file.endsWith(".md")) continue;
    const bytes = readFileSync(join(root, file));
    digest.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return digest.digest("hex");
}
