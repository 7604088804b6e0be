import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { messageOf } from "../../errors.ts";

/**
 * Why there is no native build here; null if there is one. Asked before the package is imported: that never fails, it
 * warns and returns a partial copy in JavaScript instead.
 */
export function whyNoNativeBuild(): string | null {
  const require = createRequire(import.meta.url);
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  try {
    const folder = dirname(require.resolve("uWebSockets.js"));
    // The official release has its builds at its root, the one on the npm registry beside its sources.
    const file = [folder, join(folder, "..", "binaries")]
      .map((at) => join(at, name))
      .find((at) => existsSync(at));
    if (file === undefined) return `uWebSockets.js has no ${name}`;
    require(file);
    return null;
  } catch (error) {
    return `uWebSockets.js does not load: ${messageOf(error)}`;
  }
}
