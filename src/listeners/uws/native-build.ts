import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setLibraryVariable } from "../../config.ts";
import { codeOf, messageOf } from "../../errors.ts";
import { HEAD_LIMIT_BYTES } from "../../listener.ts";

/** The requirement of every build of uWebSockets.js for Linux. */
const OLD_GLIBC = "uWebSockets.js needs glibc 2.38 or newer, as in Debian 13 and Ubuntu 24.04";

/**
 * Why uWebSockets.js does not load here; null if it does, and then it is loaded. Called before the import, to report it in one
 * line. The library reads the limit of a head from the environment, once, when it loads.
 */
export function whyNoNativeBuild(headLimitBytes = HEAD_LIMIT_BYTES): string | null {
  setLibraryVariable("UWS_HTTP_MAX_HEADERS_SIZE", String(headLimitBytes));
  const require = createRequire(import.meta.url);
  const { platform, arch, versions } = process;
  try {
    const folder = dirname(require.resolve("uWebSockets.js"));
    const build = join(folder, `uws_${platform}_${arch}_${versions.modules}.node`);
    if (!existsSync(build))
      return `uWebSockets.js has no build for Node ${versions.node} on ${platform} ${arch}`;
    require(build);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  if (codeOf(error) === "MODULE_NOT_FOUND") return "uWebSockets.js is not installed";
  const message = messageOf(error);
  if (message.includes("GLIBC_")) return OLD_GLIBC;
  return `uWebSockets.js does not load: ${message.split("\n", 1)[0]}`;
}

/** Can another build of uWebSockets.js help? Not against an old glibc: none supports it. */
export function mayBeReplaced(reason: string): boolean {
  return reason !== OLD_GLIBC;
}
