import { systemClock } from "../../../src/clock.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { sampleCommit, sampleMessage, sampleRun } from "../samples.ts";

/**
 * A process that writes to eight threads at once and tells each acknowledged change as `UID MESSAGES`, until it is
 * killed. Argument: the folder.
 */
const store = await openEmbeddedStore({ dataDir: process.argv[2] ?? "", clock: systemClock });
const fence = `${store.processId}:writer`;

async function write(uid: string): Promise<void> {
  for (;;) {
    const record = await store.load(uid, 0);
    const [rev, count] = [record?.rev ?? 0, record?.messageCount ?? 0];
    const result = await store.commit(
      sampleCommit({
        uid,
        opId: `${store.processId} ${rev}`,
        fence,
        takesFrom: record?.fence ?? null,
        rev,
        readOp: record?.lastOp ?? null,
        run: sampleRun(`${store.processId} ${rev}`),
        messages: [sampleMessage(count + 1), sampleMessage(count + 2)],
      }),
    );
    if (result.type !== "committed") throw new Error(`Cannot write thread ${uid}: ${result.type}`);
    process.stdout.write(`${uid} ${count + 2}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, index) => write(`t${index}`)));
