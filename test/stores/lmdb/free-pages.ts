import { open } from "lmdb";
import type { RootDatabase } from "lmdb";

/**
 * A process that comes to the fault of lmdb 3.5.6 that README.md of src/stores tells of. Arguments: the folder, and `again` to go
 * on in a folder in which it was. It prints the number of each step that was acknowledged; going on, first the one that it finds.
 *
 * One change frees 5,000 pages, nearly all of them apart from each other; the list of them takes more than ten side by side, of
 * which the file has few. After a restart, with a reader that keeps newer pages from joining, a commit needs as many again, finds
 * none among the free ones, and takes the list to begin where nothing was written. It uses lmdb as the store does (file.ts), but for
 * the deadline: a slow disk is not what is looked for.
 */
const [folder = "", how = "anew"] = process.argv.slice(2);
const VALUES = 20_000;
/** One to a page. */
const VALUE = "x".repeat(2_500);
const STEPS = 8;

type Db = RootDatabase<unknown, (string | number)[]>;

async function withStore(use: (db: Db) => Promise<void>): Promise<void> {
  const db = open<unknown, (string | number)[]>({ path: folder, encoding: "json" });
  await use(db);
  await db.close();
}

async function change(db: Db, step: () => void): Promise<void> {
  await db.childTransaction(step);
  await db.flushed;
}

async function write(db: Db, step: number): Promise<void> {
  await change(db, () => void db.put(["written"], VALUE + step));
  process.stdout.write(`${step}\n`);
}

async function makeReady(): Promise<void> {
  await withStore(async (db) => {
    for (let from = 0; from < VALUES; from += 1_000) {
      await change(db, () => {
        for (let nth = from; nth < from + 1_000; nth++) void db.put(["value", nth], VALUE);
      });
    }
  });
  await withStore(async (db) => {
    await change(db, () => {
      for (let nth = 0; nth < VALUES; nth++) {
        const isSideBySide = nth > 100 && nth < 136;
        if (nth % 4 === 0 || isSideBySide) void db.remove(["value", nth]);
      }
    });
    await change(db, () => void db.put(["older"], VALUE));
  });
}

if (how === "again") {
  await withStore(async (db) => {
    const found = String(db.get(["written"])).slice(VALUE.length);
    process.stdout.write(`${found}\n`);
    for (let step = 1; step <= STEPS; step++) await write(db, Number(found) + step);
  });
} else {
  await makeReady();
  await withStore(async (db) => {
    const reader = db.useReadTransaction();
    for (let step = 1; step <= STEPS; step++) await write(db, step);
    reader.done();
  });
}
