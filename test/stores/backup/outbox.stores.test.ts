// For src/stores/steps/outbox/, src/stores/steps/outbox.ts
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { endpointOf } from "../../../src/domain/threads/tellings.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { startTestService } from "../../support/servers/service.ts";
import { sampleChannel, sampleCommit, sampleMessage } from "../samples.ts";
import { SECRET, startReceiver } from "../../webhooks/receiver.ts";
import { addThread, mint } from "../users.ts";
import { storeJson } from "./copy.ts";
import { placeForTest } from "./places.ts";
import type { PlaceKind } from "./places.ts";

const WAYS: [from: PlaceKind, into: PlaceKind][] = inject("stores").includes("redis")
  ? [
      ["embedded", "redis"],
      ["redis", "embedded"],
    ]
  : [["embedded", "embedded"]];

test.each(WAYS)(
  "what waits for a webhook in the %s store is told from a backup in %s",
  async (from, into) => {
    const receiver = await startReceiver();
    const channel = { ...sampleChannel({ webhooks: [{ url: receiver.url, secret: SECRET }] }) };
    const endpoint = endpointOf(receiver);
    const [source, target] = [await placeForTest(from), await placeForTest(into)];
    const before = await source.open();
    await before.putChannel(channel);
    const { slug } = channel;
    await mint(before, "h1", "u1");
    await addThread(before, "u1", "t1");
    const event = (nth: number) => ({
      event: {
        id: `msg_${nth}`,
        type: "message.created" as const,
        atMs: nth,
        messageId: String(nth),
        data: {},
      },
      endpoints: [endpoint],
    });
    const committed = await before.commit(
      sampleCommit({
        opId: "tells",
        fence: "gone:a",
        state: "idle",
        holds: false,
        messages: [1, 2, 3].map((nth) => sampleMessage(nth)),
        tells: [1, 2, 3].map(event),
      }),
    );
    // One was taken, one is as it was sent, and has failed; the last one was never queued.
    const ref = (nth: number) => ({ slug, endpoint, uid: "t1", nth: String(nth) });
    expect(committed.type).toBe("committed");
    await before.outbox?.queue([ref(1), ref(2)]);
    await before.outbox?.settled(ref(1), null);
    const body = JSON.stringify({
      type: "message.created",
      timestamp: new Date().toISOString(),
      data: { channel: slug },
    });
    await before.outbox?.seal(ref(2), { id: "msg_2", body });
    const failed = { id: "msg_2", event: "message.created", atMs: 5, attempt: 1, status: 500, elapsedMs: 1 };
    await before.outbox?.failed(ref(2), { attempts: 1, dueMs: 4e12 }, { ...failed, fault: "status 500" });
    await before.close();

    const file = join(temporaryFolder(), "backup");
    await storeJson(source.env, "backup", file);
    await storeJson(target.env, "restore", file);
    const store = await target.open();
    onTestFinished(() => store.close());
    await startTestService({ store, channels: [], env: { WEBHOOKS_PRIVATE: "on" } });
    const taken = () =>
      receiver
        .taken()
        .map(({ id }) => id)
        .sort();
    await expect.poll(taken, { timeout: 60_000, interval: 20 }).toEqual(["msg_2", "msg_3"]);
    expect(receiver.told.find(({ id }) => id === "msg_2")?.raw).toBe(body);
    expect(receiver.told.find(({ id }) => id === "msg_3")?.data).toMatchObject({
      sequence: 3,
      message: { id: "3", content: "text 3" },
    });
  },
);
