import { lockDataDir } from "../../../src/stores/engines/lmdb/data-dir-lock.ts";

/** A process that locks DATA_DIR, says so, and waits to be killed. Arguments: the folder, the lock's place. */
const [dataDir = "", place = "file"] = process.argv.slice(2);
await lockDataDir(dataDir, place === "abstract" ? "abstract" : "file");
process.stdout.write("locked\n");
setInterval(() => {}, 60_000);
