import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * The file of a package that an owner installs, beside the service or in the working directory; null: it is in neither. Such
 * packages are loaded where a setting names them, and nowhere else.
 */
export function fileOfPackage(name: string): string | null {
  for (const from of [join(process.cwd(), "package.json"), import.meta.url]) {
    try {
      return createRequire(from).resolve(name);
    } catch {
      // Then it may be in the other place.
    }
  }
  return null;
}
