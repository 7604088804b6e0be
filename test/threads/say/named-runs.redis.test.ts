// For src/threads/say/
import { describe, expect, it } from "vitest";
import { readerOf, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";

describe("P31: a cancel from another instance", () => {
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances((two) => ({ a, b } = two));

  it("ends the run that it saw, and none of the messages that wait behind it", async () => {
    const first = readerOf(await a.threads.say(says("t1", "One")));
    const second = readerOf(await a.threads.say(says("t1", "Two")));
    await a.agent.turn();
    await b.threads.cancel("t1");
    expect((await first.all).at(-1)).toMatchObject({ type: "error", code: "cancelled" });
    const turn = await a.agent.turn();
    turn.write("Two, then");
    turn.finish();
    expect((await second.all).at(-1)?.type).toBe("done");
  });
});
