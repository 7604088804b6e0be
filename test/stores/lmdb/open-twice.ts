import { systemClock } from "../../../src/clock.ts";
import { openLmdbEngine } from "../../../src/stores/engines/lmdb/engine.ts";
import type { Engine } from "../../../src/stores/engine.ts";

/** A process that opens one store again and again while it writes to it. Argument: the folder. */
const open = () => openLmdbEngine({ dataDir: process.argv[2] ?? "", clock: systemClock });
const set = (engine: Engine, field: string, nth: number) =>
  engine.apply({
    slot: "t:00",
    checks: [],
    writes: [{ write: "set", key: "m:{t:00}:a", fields: [[field, String(nth)]] }],
  });

const first = await open();
for (let nth = 0; nth < 300; nth++) {
  const one = set(first, "one", nth);
  // Between the writer's steps, whichever it is at.
  if (nth % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
  const second = await open();
  const two = set(second, "two", nth);
  if (nth % 3 === 2) await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([one, two]);
  await second.close();
}
await first.close();
