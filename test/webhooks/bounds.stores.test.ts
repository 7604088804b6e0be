import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { endpointOf } from "../../src/domain/tellings.ts";
import { createWebhooks } from "../../src/webhooks/webhooks.ts";
import { sampleChannel, sampleCommit } from "../stores/samples.ts";
import { storeKinds } from "../support/store-kinds.ts";
import type { TestDatabase } from "../support/store-kinds.ts";
import { SECRET } from "./receiver.ts";

const MOST = 100;
/** More than are dropped at once. */
const TOLD = 1_300;
const WAIT = { timeout: 30_000, interval: 20 };

describe.each(storeKinds)("what waits for a webhook on the $name store", ({ prepare }) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await prepare();
  });
  afterAll(() => database.remove());

  it("is cut to its bound by one look, however much happened since the one before", async () => {
    const store = await database.open();
    onTestFinished(() => store.close());
    const { outbox } = store;
    if (!outbox) throw new Error("Cannot tell: the store has no outbox");
    const webhook = { url: "https://office.example/hook", secret: SECRET };
    const [channel, endpoint] = [sampleChannel({ webhooks: [webhook] }), endpointOf(webhook)];
    const tells = Array.from({ length: TOLD }, (_, nth) => ({
      event: { id: `msg_${nth}`, type: "run.ended" as const, atMs: 1_000 + nth, data: {} },
      endpoints: [endpoint],
    }));
    const committed = await store.commit(
      sampleCommit({ opId: "tells", fence: `${store.processId}:1`, tells }),
    );
    if (committed.type !== "committed") throw new Error(`Cannot tell: ${committed.type}`);
    await outbox.queue(committed.unqueued ?? []);
    await outbox.switchEndpoint(channel.slug, endpoint, 1);

    const said: unknown[] = [];
    const webhooks = createWebhooks({
      outbox,
      store,
      itemOf: () => null,
      sender: { send: () => Promise.reject(new Error("It is off")), close: () => Promise.resolve() },
      clock: systemClock,
      // No second look.
      timers: { after: () => () => {} },
      random: () => 0.5,
      log: { info() {}, warn: (what) => void said.push(what), error() {} },
      channels: () => [channel],
      webhook: () => webhook,
      secretOf: () => null,
      mostWaiting: MOST,
    });
    webhooks.start();
    await expect.poll(() => said, WAIT).toEqual([{ channel: channel.slug, endpoint, dropped: TOLD - MOST }]);
    expect((await outbox.endpoint(channel.slug, endpoint)).waiting).toBe(MOST);
    await webhooks.stop();
  });
});
