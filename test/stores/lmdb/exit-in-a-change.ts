import { watchForSignals } from "../../../src/start/signals.ts";
import { openFile } from "../../../src/stores/engines/lmdb/file.ts";

/**
 * A process that is asked to stop twice in the middle of a change of the embedded store, and then to make another one.
 * Arguments: the folder; `hangs` for a change that never ends.
 */
const [folder = "", end] = process.argv.slice(2);
const { db, write } = await openFile(folder);
watchForSignals();
await write(async () => {
  await db.childTransaction(() => {
    void db.put("n", "the one that had begun");
    for (let times = 0; times < 2; times++) process.emit("SIGTERM", "SIGTERM");
    void write(async () => void db.put("n", "the other"));
    return end === "hangs" ? new Promise(() => {}) : null;
  });
  await db.flushed;
});
