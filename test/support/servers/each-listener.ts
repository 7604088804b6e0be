import { describe } from "vitest";
import type { Listener } from "../../../src/listener.ts";
import { whyNoNativeBuild } from "../../../src/listeners/uws/native-build.ts";

const KINDS: { kind: Listener["kind"]; missing: string | null }[] = [
  { kind: "uws", missing: whyNoNativeBuild() },
  { kind: "node", missing: null },
];

/** How a suite is played on listeners. */
export type DescribeListeners = (name: string, suite: (listener: Listener["kind"]) => void) => void;

/** A suite for each listener; one that this Node cannot load is skipped, and says why. */
export const describeEachListener: DescribeListeners = (name, suite) => {
  for (const { kind, missing } of KINDS) {
    const why = missing === null ? "" : `: ${missing}`;
    describe.skipIf(missing !== null)(`${name}, on ${kind}${why}`, () => {
      suite(kind);
    });
  }
};

/** For what takes long and hardly depends on it: a suite for the listener that listens here by default. */
export const describeDefaultListener: DescribeListeners = (name, suite) => {
  const kind = KINDS.find(({ missing }) => missing === null)?.kind ?? "node";
  describe(`${name}, on ${kind}`, () => {
    suite(kind);
  });
};
