// For src/threads/desk/
import { describe, expect, it } from "vitest";
import { systemClock, systemTimers } from "../../../src/clock.ts";
import type { Channel } from "../../../src/domain/channels/channel.ts";
import type { WebhookField } from "../../../src/domain/channels/webhook.ts";
import { newId } from "../../../src/domain/ids.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { EVERYTHING } from "../../../src/store.ts";
import type { ToldRef } from "../../../src/store.ts";
import { nobody } from "../../../src/threads/dependencies.ts";
import { createDesk } from "../../../src/threads/desk/desk.ts";
import { createUnreadSweep } from "../../../src/threads/desk/unread-sweep.ts";
import { addNote } from "../../../src/operators/threads/desk.ts";
import { sampleChannel } from "../../stores/samples.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { readerOf, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";

const on = { uid: "t1", slug: "shop" };
const ann = { ...on, name: "ann", shownAs: "Ann of the shop" };
const MINUTE = 60_000;

describe.each(storeKinds)("what is kept beside a conversation, on $name", ({ prepare }) => {
  let here: Instance;
  let aheadMs = 0;
  const clock = { now: () => systemClock.now() + aheadMs, elapsed: () => systemClock.elapsed() };
  eachOnOneInstance(
    prepare,
    (one) => {
      here = one.here;
      aheadMs = 0;
    },
    { clock, waitMs: MINUTE, answerMs: MINUTE / 2 },
  );

  /** A desk whose events all go to one endpoint. */
  function open(webhook: Partial<WebhookField> = {}) {
    const webhooks = [{ url: "https://a.example/hook", secret: "whsec_x", ...webhook }];
    const refs: ToldRef[] = [];
    const rated: unknown[] = [];
    const desk = createDesk({
      store: here.store,
      clock,
      newId,
      observer: { ...nobody, handOffRated: (one) => void rated.push(one) },
      webhooks: () => webhooks,
      told: (some) => void refs.push(...some),
    });
    /** The events that were queued, as they are stored. */
    const told = () =>
      Promise.all(
        // What nobody has queued yet is passed on with the next event, too.
        [...new Map(refs.map((ref) => [ref.nth, ref])).values()].map(async (ref) => {
          const event = await here.store.outbox?.event(ref);
          return event?.type === "told" ? (JSON.parse(event.text) as { type: string; data: object }) : null;
        }),
      );
    const channel: Channel = sampleChannel({ slug: "shop", webhooks });
    const sweep = createUnreadSweep({
      store: here.store,
      desk,
      channels: () => [channel],
      share: () => EVERYTHING,
      clock,
      timers: systemTimers,
      log: { warn: (_, text) => void here.complaints.push(String(text)) },
    });
    return { desk, told, rated, sweep };
  }

  const kim = () => ({
    slug: "shop",
    externalId: "kim",
    displayName: null,
    newUserId: "u1",
    creates: true,
    thread: { name: "t1", newUid: "t1" },
    atMs: clock.now(),
  });

  async function converse(): Promise<void> {
    const reader = readerOf(await here.threads.say(says("t1", "Hello")));
    const turn = await here.agent.turn();
    turn.write("Hi");
    turn.finish();
    await reader.all;
  }

  it("tells who answered when, after a restart too, and nothing of a thread in which nobody was asked", async () => {
    const { desk } = open();
    expect(await desk.changes("t1")).toEqual([]);
    await converse();
    expect(await desk.changes("t1")).toEqual([]);
    const { people } = here.threads;
    await people.ask({ ...on, by: "transport", reason: "A refund", queue: "returns" });
    await people.take({ ...ann, epoch: 1 });
    await people.handBack({ ...ann, epoch: 2, how: "closed", note: null });
    const about = { reason: "A refund", queue: "returns" };
    const atMs = expect.any(Number) as number;
    const { shownAs } = ann;
    expect(await desk.changes("t1")).toEqual([
      { epoch: 1, how: "asked", atMs, ...about },
      { epoch: 2, how: "taken", atMs, by: "ann", shownAs, ...about },
      { epoch: 3, how: "closed", atMs, by: "ann", shownAs, ...about },
    ]);
    await here.store.eraseThread("t1", 9);
    expect(await desk.changes("t1")).toEqual([]);
  });

  it("shows the latest hundred changes, and exports all", async () => {
    const { desk } = open();
    await converse();
    for (let epoch = 0; epoch < 103; epoch += 1) await here.threads.people.take({ ...ann, epoch });
    const epochs = async (some: Promise<{ epoch: number }[]>) => (await some).map(({ epoch }) => epoch);
    const shown = await epochs(desk.changes("t1"));
    expect([shown.length, shown[0], shown.at(-1)]).toEqual([100, 4, 103]);
    expect(await epochs(desk.everyChange("t1"))).toEqual(Array.from({ length: 103 }, (_, at) => at + 1));
  });

  it("keeps an address, and tells it once", async () => {
    const { desk, told } = open();
    await converse();
    await desk.leaveAddress(on, { address: "a@b.example", reason: null });
    await desk.leaveAddress(on, { address: "a@b.example", reason: null });
    expect(await here.store.desk("t1")).toMatchObject({ address: "a@b.example" });
    expect(await told()).toMatchObject([{ type: "handoff.missed", data: { address: "a@b.example" } }]);
  });

  it("keeps nothing beside a thread that is not there, or was deleted", async () => {
    const { desk, told } = open();
    const leaving = () => desk.leaveAddress(on, { address: "a@b.example", reason: null });
    await expect(leaving()).rejects.toEqual(new Refusal("not-found", "Unknown thread"));
    await converse();
    await here.store.eraseThread("t1", 9);
    await expect(leaving()).rejects.toEqual(new Refusal("not-found", "Unknown thread"));
    expect(await told()).toEqual([]);
  });

  it("keeps what a visitor thinks of the hand-off that ended last, the latest word of it", async () => {
    const { desk, told, rated } = open();
    await converse();
    const none = new Refusal("conflict", "No person has ended a hand-off here");
    await expect(desk.rate(on, { score: 5 })).rejects.toEqual(none);
    const { people } = here.threads;
    await people.take({ ...ann, epoch: 0 });
    await expect(desk.rate(on, { score: 5 })).rejects.toEqual(none);
    await people.handBack({ ...ann, epoch: 1, how: "closed", note: null });
    await desk.rate(on, { score: 2 });
    await desk.rate(on, { score: 4, comment: "Better" });
    await desk.rate(on, { score: 4, comment: "Better" });
    const { ratings } = await here.store.desk("t1");
    expect(ratings).toMatchObject([{ epoch: 2, score: 4, comment: "Better", by: "ann" }]);
    expect(await told()).toMatchObject([
      { type: "handoff.rated", data: { score: 2, by: "ann" } },
      { type: "handoff.rated", data: { score: 4, comment: "Better" } },
    ]);
    expect(rated).toMatchObject([
      { before: null, rating: { score: 2 } },
      { before: { score: 2 }, rating: { score: 4 } },
    ]);
  });

  it("tells a reply that no page has shown, with the address, once, however many look", async () => {
    const { desk, told, sweep } = open({ unreadMinutes: 10 });
    await here.store.putChannel(sampleChannel({ slug: "shop" }));
    await here.store.admitUser(kim());
    await converse();
    await desk.leaveAddress(on, { address: "a@b.example", reason: null });
    const unread = async () => (await told()).filter((one) => one?.type === "reply.unread");
    await sweep.look();
    expect(await unread()).toEqual([]);
    aheadMs += 11 * MINUTE;
    await expect.poll(() => Promise.all([sweep.look(), sweep.look()]).then(unread)).toHaveLength(1);
    await sweep.look();
    expect(await unread()).toMatchObject([{ messageId: "2", data: { address: "a@b.example" } }]);
    expect(here.complaints).toEqual([]);
  });

  it("tells no reply that a page has shown, and none where no endpoint has a time for it", async () => {
    const { desk, told, sweep } = open({ unreadMinutes: 10 });
    const without = open();
    await here.store.putChannel(sampleChannel({ slug: "shop" }));
    await here.store.admitUser(kim());
    await converse();
    await desk.shown(on, 2);
    await desk.shown(on, 1);
    expect(await here.store.desk("t1")).toMatchObject({ rev: 1, shownTo: 2 });
    aheadMs += 11 * MINUTE;
    await sweep.look();
    await without.sweep.look();
    expect([...(await told()), ...(await without.told())]).toEqual([]);
  });

  it("tells of an operator's note only who asks for it", async () => {
    await converse();
    const acting = { store: here.store, clock, operator: "ann" };
    const all = open();
    await addNote(acting, all.desk.keep, on, "Ask first");
    expect(await all.told()).toEqual([]);
    const asks = open({ events: ["note.created"] });
    await addNote(acting, asks.desk.keep, on, "Again");
    expect(await asks.told()).toMatchObject([
      { type: "note.created", data: { note: { id: "2", by: "ann", text: "Again" } } },
    ]);
  });
});
