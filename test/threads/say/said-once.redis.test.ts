// For src/threads/say/
import { describe, expect, it } from "vitest";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";

describe("P31: twenty of the same at once, on two instances", () => {
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances((two) => ({ a, b } = two));

  it("are one message and one run, and twenty times the same stream", async () => {
    const replies = Promise.all(
      Array.from({ length: 20 }, (_, nth) => (nth % 2 ? a : b).threads.say(says("t1", "Hello", "m1"))),
    );
    const turn = await Promise.race([a.agent.turn(), b.agent.turn()]);
    turn.write("Good day");
    turn.finish();
    const streams = await Promise.all((await replies).map((reply) => readerOf(reply).all));
    for (const lines of streams) {
      expect(textOfLines(lines)).toBe("Good day");
      expect(lines.at(-1)).toEqual(streams[0]?.at(-1));
    }
    expect(a.agent.turns + b.agent.turns).toBe(1);
    expect(await a.threads.history("t1", { limit: 9, before: null })).toHaveLength(2);
  });
});
