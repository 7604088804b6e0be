// For src/threads/say/speak.ts
import { describe, expect, it } from "vitest";
import { readerOf, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";

describe("the service speaks first, through two instances", () => {
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances((two) => ({ a, b } = two));

  it("says it once, after the run that another one holds", async () => {
    const first = readerOf(await a.threads.say(says("t1", "Hello")));
    const turn = await a.agent.turn();
    turn.write("Hi");
    const spoken = { uid: "t1", slug: "shop", text: "By the way", clientMessageId: "k" };
    const speaking = [a, b, a, b].map(({ threads }) => threads.speak(spoken));
    await new Promise((resolve) => setTimeout(resolve, 200));
    turn.finish();
    await first.all;
    expect(await Promise.all(speaking)).toEqual(["3", "3", "3", "3"]);
    const history = await b.threads.history("t1", { limit: 9, before: null });
    expect(history.map(({ content }) => content)).toEqual(["Hello", "Hi", "By the way"]);
  });
});
