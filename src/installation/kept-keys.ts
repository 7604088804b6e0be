import type { ChannelKeys } from "../keys.ts";
import type { Secret } from "../secret.ts";
import { DEMO_SLUG } from "./default-channels.ts";
import { readKeysFile, writeKeysFile } from "./keys-file.ts";
import { LOCAL_OPERATOR } from "../domain/people/operator-name.ts";

/** Saves new keys of the demo channel and the local operator in the keys file, if it has the old ones, for the next start. */
export function keptKeys(dataDir: string) {
  return {
    channel(slug: string, keys: ChannelKeys): void {
      const generated = readKeysFile(dataDir);
      if (generated !== null && slug === DEMO_SLUG) writeKeysFile(dataDir, { ...generated, demo: keys });
    },

    operator(name: string, key: Secret): void {
      const generated = readKeysFile(dataDir);
      if (generated?.localOperator === undefined || name !== LOCAL_OPERATOR) return;
      writeKeysFile(dataDir, { ...generated, localOperator: key });
    },
  };
}
