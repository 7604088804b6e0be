import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import type { Store } from "../../../src/store.ts";
import type { SealingOptions } from "../../../src/stores/steps/codec.ts";
import type { StoreUnderTest } from "../contract/contract.ts";

/** An embedded store in a folder of its own, on a clock that the test sets. */
export async function openForTest(
  sealing: SealingOptions = {},
): Promise<StoreUnderTest & { dataDir: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-store-"));
  let nowMs = Date.UTC(2026, 10, 21);
  const clock = { now: () => nowMs, elapsed: () => nowMs };
  const handles: Store[] = [];
  const open = async () => {
    const store = await openEmbeddedStore({ dataDir, clock, ...sealing });
    handles.push(store);
    return store;
  };
  const store = await open();
  return {
    dataDir,
    store,
    reopen: async () => {
      await store.close();
      return open();
    },
    another: open,
    elapse: async (ms) => {
      nowMs += ms;
    },
    clean: async () => {
      await Promise.all(handles.map((handle) => handle.close()));
      rmSync(dataDir, { recursive: true });
    },
  };
}
