import type { ChannelKeys } from "../keys.ts";
import type { Secret } from "../secret.ts";
import { DEMO_SLUG } from "./default-channels.ts";
import { readKeysFile, writeKeysFile } from "./keys-file.ts";
import { LOCAL_OPERATOR } from "./local-operator.ts";

/** New keys of the demo channel and of the local operator also go into the keys file that has their old ones: the next start tells them. */
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
