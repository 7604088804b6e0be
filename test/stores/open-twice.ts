import { openDb } from "../../src/stores/embedded/db.ts";

/** A process that opens one path again and again while it writes to it. Argument: the folder. */
const folder = process.argv[2] ?? "";
const first = await openDb(folder);
for (let i = 0; i < 300; i++) {
  const one = first.change("write", () => first.put(["one"], i));
  // Between the writer's steps, whichever it is at.
  if (i % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
  const second = await openDb(folder);
  const two = second.change("write", () => second.put(["two"], i));
  if (i % 3 === 2) await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([one, two]);
  await second.close();
}
await first.close();
