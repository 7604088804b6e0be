// For src/threads/hold/work.ts
import { describe, expect, it } from "vitest";
import type { Store } from "../../../src/store.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { serverCall } from "../scripted-agent.ts";

describe.each(storeKinds)("a tool's images on $name", ({ prepare }) => {
  let store: Store;
  let here: Instance;
  let restart: () => Promise<void>;
  eachOnOneInstance(prepare, (one) => ({ store, here, restart } = one));

  async function photographed() {
    await here.threads.say(says("t1", "Which colour?"));
    (await here.agent.turn()).call(serverCall("c1"));
    (await here.agent.toolCall()).answer("A shoe", false, ["data:image/png;base64,AAAA"]);
    return here.agent.turn();
  }

  it("come with each later turn of the run, and with no other run's", async () => {
    const second = await photographed();
    expect(second.turn.toolImages).toEqual(new Map([["c1", ["data:image/png;base64,AAAA"]]]));
    await here.threads.say(says("t1", "Sure?"));
    second.call(serverCall("c2"));
    (await here.agent.toolCall()).answer("noon");
    const third = await here.agent.turn();
    expect([...(third.turn.toolImages?.keys() ?? [])]).toEqual(["c1"]);
    third.finish();
    const next = await here.agent.turn();
    expect(next.turn.text).toBe("Sure?");
    expect(next.turn.toolImages).toBeUndefined();
    next.finish();
  });

  it("are nowhere in the store, so a run that is taken over goes on without them", async () => {
    await photographed();
    const record = await store.load("t1", 1_000);
    expect(JSON.stringify(record)).toContain("A shoe");
    expect(JSON.stringify(record)).not.toContain("AAAA");
    await restart();
    const again = await here.agent.turn();
    expect(again.turn.run.turns).toHaveLength(2);
    expect(again.turn.toolImages).toBeUndefined();
    again.finish();
  });
});
