import { watchForSignals } from "../../src/start/signals.ts";
import { openDb } from "../../src/stores/embedded/db.ts";

/**
 * A process that is asked to stop twice in the middle of a change of the embedded store, and then to make another one.
 * Arguments: the folder; `hangs` for a change that never ends.
 */
const [dataDir = "", end] = process.argv.slice(2);
const db = await openDb(dataDir);
watchForSignals();
const change = db.change("write", () => {
  db.put(["n"], "the one that had begun");
  for (let times = 0; times < 2; times++) process.emit("SIGTERM", "SIGTERM");
  void db.change("write", () => db.put(["n"], "the other"));
  return end === "hangs" ? new Promise(() => {}) : null;
});
// What hangs is told as late to who asked for it, which is nothing that ends the process.
await change.catch(() => null);
