// For src/operators/export-user.ts
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { exportUser } from "../../src/operators/export-user.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel, sampleCommit, sampleMessage } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

/** EXPORT_MESSAGES=100000 is the long form: a minute. */
const MESSAGES = Number(process.env["EXPORT_MESSAGES"] ?? 1_000);
const AT_ONCE = 100;
const MINUTES = 60_000;

async function longThread(): Promise<Store> {
  const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock: systemClock });
  onTestFinished(() => store.close());
  await store.putChannel(sampleChannel());
  const thread = { name: "order", newUid: "t1" };
  const caller = { slug: "shop", externalId: "kim", displayName: null, newUserId: "u-kim", thread };
  await store.admitUser({ ...caller, creates: true, atMs: 1 });
  for (let nth = 0; nth < MESSAGES / AT_ONCE; nth++) {
    const messages = Array.from({ length: AT_ONCE }, (_, i) => sampleMessage(nth * AT_ONCE + i + 1));
    const at = { fence: "p:1", rev: nth, readOp: nth === 0 ? null : `o-${nth - 1}`, holds: false };
    await store.commit(sampleCommit({ opId: `o-${nth}`, ...at, state: "idle", messages }));
  }
  return store;
}

test(
  "an export reads no further than its reader has come, however long the thread is",
  async () => {
    const inner = await longThread();
    let [read, taken, mostAhead] = [0, 0, 0];
    const store: Store = {
      ...inner,
      async look(uid, from) {
        const look = await inner.look(uid, from);
        read += look.messages.length;
        mostAhead = Math.max(mostAhead, read - taken);
        return look;
      },
    };
    const user = (await store.findUser("shop", "kim"))!;
    const records = await exportUser(
      { store, clock: systemClock, operator: "command line" },
      "shop",
      user,
      async () => [],
    );
    let next = 1;
    for await (const record of records) {
      if (record.type !== "message") continue;
      expect(record.message.id).toBe(String(next));
      next += 1;
      taken += 1;
      if (next > MESSAGES) break;
    }
    expect(taken).toBe(MESSAGES);
    expect(mostAhead).toBe(AT_ONCE);
  },
  5 * MINUTES,
);
