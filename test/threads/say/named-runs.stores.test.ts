// For src/threads/say/
import { describe, expect, it } from "vitest";
import type { InstanceMessage, Store } from "../../../src/store.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { gatedStore } from "../hold/gated-store.ts";
import { createInstance, readerOf, says } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";

describe.each(storeKinds)("P31: whoever ends a run names it, on $name", ({ prepare }) => {
  let store: Store;
  eachOnOneInstance(prepare, (one) => ({ store } = one));

  it("a cancel that comes while the run's last save is on its way does not end the next one", async () => {
    const gated = gatedStore(store);
    let hasRead = () => {};
    const reading = new Promise<void>((resolve) => (hasRead = resolve));
    const here = createInstance({
      ...gated.store,
      load: (...args) => gated.store.load(...args).finally(hasRead),
    });
    await here.threads.say(says("t1", "One"));
    const second = readerOf(await here.threads.say(says("t1", "Two")));
    const save = gated.holdNext();
    (await here.agent.turn()).finish();
    await save.reached;
    const cancelled = here.threads.cancel("t1");
    await reading;
    save.open();
    await cancelled;
    const turn = await here.agent.turn();
    turn.write("Fine");
    turn.finish();
    expect((await second.all).map(({ type }) => type)).toEqual(["delta", "done"]);
    await here.threads.drain(0);
  });

  it("a run's time that passes while its last save is on its way does not end the next one", async () => {
    const gated = gatedStore(store);
    const due: (() => void)[] = [];
    const timers = { after: (_ms: number, run: () => void) => (due.push(run), () => {}) };
    const here = createInstance(gated.store, { timers });
    await here.threads.say(says("t1", "One"));
    const second = readerOf(await here.threads.say(says("t1", "Two")));
    const save = gated.holdNext();
    (await here.agent.turn()).finish();
    await save.reached;
    for (const run of due.splice(0)) run();
    save.open();
    const turn = await here.agent.turn();
    turn.finish();
    expect((await second.all).map(({ type }) => type)).toEqual(["done"]);
  });

  it("a cancel from another instance that names another run changes nothing", async () => {
    let tell = (_message: InstanceMessage): void => {};
    const here = createInstance({ ...store, onMessage: (handler) => void (tell = handler) });
    await here.threads.start();
    const reply = await here.threads.say(says("t1", "One"));
    const reader = readerOf(reply);
    const heard = reader.next();
    const turn = await here.agent.turn();
    tell({ type: "cancel", uid: "t1", runId: "another" });
    turn.write("Still here");
    await heard;
    expect(reader.lines).toEqual([{ type: "delta", text: "Still here" }]);
    expect(turn.signal.aborted).toBe(false);
    tell({ type: "cancel", uid: "t1", runId: reply.runId });
    expect((await reader.all).at(-1)).toMatchObject({ type: "error", code: "cancelled" });
    await here.threads.drain(0);
  });
});
