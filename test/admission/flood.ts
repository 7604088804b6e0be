import { createRateWindows, EXACT_KEYS } from "../../src/admission/rate-windows.ts";
import { systemClock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";

/**
 * A process of its own, with --expose-gc: as many addresses as its argument says, each once, in one window. Prints the MB
 * that are held when the exact keys are full and the sketch is there, and in the end.
 */
const windows = createRateWindows({ limits: readConfig({}).limits, clock: { ...systemClock, now: () => 0 } });

function take(from: number, to: number): void {
  for (let key = from; key < to; key++) {
    const address = `2001:db8:${(key >>> 16).toString(16)}:${(key & 0xffff).toString(16)}`;
    windows.take([{ window: "visitors-by-address", key: address }]);
  }
}

function heldMb(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return Math.round((heapUsed + arrayBuffers) / 1e6);
}

take(0, EXACT_KEYS + 1);
const full = heldMb();
take(EXACT_KEYS + 1, Number(process.argv[2]));
console.log(JSON.stringify({ full, end: heldMb() }));
