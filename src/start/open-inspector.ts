import type { KeyDoor } from "../admission/key-door.ts";
import type { PlainLog } from "../log.ts";
import type { Threads } from "../actors/threads.ts";
import { inspectorRoutes } from "../http/inspector/routes.ts";
import type { Route } from "../http/route.ts";
import { inspectorKey } from "../inspector/inspector-key.ts";
import { createHider } from "../log.ts";
import type { Secret } from "../secret.ts";
import type { Store } from "../store.ts";

/** INSPECTOR=on: the routes of /machines, and the link that opens it. */
export interface Inspector {
  routes: (threads: Threads) => Route[];
  /** With the key after the `#`, which browsers never send. */
  linkOf(url: string): string;
  /** Ends every watch. */
  close(): void;
}

export function openInspector(dependencies: {
  transportKey: Secret;
  keyDoor: KeyDoor;
  /** Other secrets to hide. */
  secrets: readonly Secret[];
  store: Store;
  log: PlainLog;
}): Inspector {
  const { transportKey, keyDoor, secrets, store, log } = dependencies;
  const key = inspectorKey(transportKey);
  const hide = createHider([...secrets, transportKey, key]);
  const open = new Set<() => void>();
  return {
    routes: (threads) => inspectorRoutes({ key, keyDoor, store, threads, log, hide, open }),
    linkOf: (url) => `${url}/machines#key=${key.reveal()}`,
    close() {
      for (const end of open) end();
    },
  };
}
