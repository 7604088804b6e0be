import { openFile } from "../../src/stores/engines/lmdb/file.ts";

/** A process that opens lmdb's file and closes it again, so many times. Arguments: its folder, and how many. */
const [, , folder = "", times = ""] = process.argv;
for (let nth = 0; nth < Number(times); nth++) await (await openFile(folder)).close();
