import { openDb } from "../../src/stores/embedded/db.ts";

/** A process that opens the store and closes it again, so many times. Arguments: the folder, and how many. */
const [, , dataDir = "", times = ""] = process.argv;
for (let nth = 0; nth < Number(times); nth++) await (await openDb(dataDir)).close();
