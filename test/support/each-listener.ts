import { describe } from "vitest";
import type { Listener } from "../../src/listener.ts";
import { whyNoNativeBuild } from "../../src/listeners/uws/native-build.ts";

const KINDS: { kind: Listener["kind"]; missing: string | null }[] = [
  { kind: "uws", missing: whyNoNativeBuild() },
  { kind: "node", missing: null },
];

/** A suite for each listener; one that this Node cannot load is skipped, and says why. */
export function describeEachListener(name: string, suite: (listener: Listener["kind"]) => void): void {
  for (const { kind, missing } of KINDS) {
    const why = missing === null ? "" : `: ${missing}`;
    describe.skipIf(missing !== null)(`${name}, on ${kind}${why}`, () => {
      suite(kind);
    });
  }
}
