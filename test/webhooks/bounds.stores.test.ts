// For src/webhooks/webhooks.ts, src/webhooks/lane.ts
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { endpointOf } from "../../src/domain/threads/tellings.ts";
import type { OutboxStore } from "../../src/store.ts";
import { createLane } from "../../src/webhooks/lane.ts";
import { createWebhooks } from "../../src/webhooks/webhooks.ts";
import { sampleChannel, sampleCommit } from "../stores/samples.ts";
import { storeKinds } from "../support/stores/store-kinds.ts";
import type { TestDatabase } from "../support/stores/store-kinds.ts";
import { SECRET } from "./receiver.ts";

const MOST = 100;
/** More than are dropped at once. */
const TOLD = 1_300;
const WAIT = { timeout: 30_000, interval: 20 };

const webhook = { url: "https://office.example/hook", secret: SECRET };
const [channel, endpoint] = [sampleChannel({ webhooks: [webhook] }), endpointOf(webhook)];

describe.each(storeKinds)("what waits for a webhook on the $name store", ({ prepare }) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await prepare();
  });
  beforeEach(() => database.clear());
  afterAll(() => database.remove());

  async function opened() {
    const store = await database.open();
    onTestFinished(() => store.close());
    const { outbox } = store;
    if (!outbox) throw new Error("Cannot tell: the store has no outbox");
    const tells = Array.from({ length: TOLD }, (_, nth) => ({
      event: { id: `msg_${nth}`, type: "run.ended" as const, atMs: 1_000 + nth, data: {} },
      endpoints: [endpoint],
    }));
    const committed = await store.commit(
      sampleCommit({ opId: "tells", fence: `${store.processId}:1`, tells }),
    );
    if (committed.type !== "committed") throw new Error(`Cannot tell: ${committed.type}`);
    await outbox.queue(committed.unqueued ?? []);
    const said: unknown[] = [];
    const parts = {
      outbox,
      store,
      itemOf: () => null,
      sender: { send: () => Promise.reject(new Error("Nobody is told")), close: () => Promise.resolve() },
      clock: systemClock,
      timers: { after: () => () => {} },
      random: () => 0.5,
      log: { info() {}, warn: (what: unknown) => void said.push(what), error() {} },
      webhook: () => webhook,
      secretsOf: () => [],
    };
    return { outbox, parts, said };
  }

  it("is cut to its bound by one look, however much happened since the one before", async () => {
    const { outbox, parts, said } = await opened();
    await outbox.switchEndpoint(channel.slug, endpoint, 1);
    const webhooks = createWebhooks({ ...parts, channels: () => [channel], mostWaiting: MOST });
    // The timers never run: there is no second look.
    webhooks.start();
    await expect.poll(() => said, WAIT).toEqual([{ channel: channel.slug, endpoint, dropped: TOLD - MOST }]);
    expect((await outbox.endpoint(channel.slug, endpoint)).waiting).toBe(MOST);
    await webhooks.stop();
  });

  it("is not gone through again and again once the channel has the webhook no more", async () => {
    const { outbox, parts } = await opened();
    let leases = 0;
    const counted: OutboxStore = {
      ...outbox,
      lease(...leased) {
        leases++;
        return outbox.lease(...leased);
      },
    };
    const gone = { ...parts, outbox: counted, webhook: () => null };
    const lane = createLane(gone, { slug: channel.slug, endpoint });
    lane.wake();
    await lane.stop();
    expect(leases).toBe(0);
    expect(await outbox.nextDueMs(channel.slug, endpoint)).toBe(0);
  });
});
