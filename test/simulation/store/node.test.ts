// For test/simulation/
import { describe, expect, test } from "vitest";
import { createVirtualTime } from "../virtual-time.ts";
import { createNode } from "./node.ts";

/** A node whose replica confirms 10 ms after a write, and what it answered. */
function nodeOf(durability: "local" | "replica") {
  const time = createVirtualTime();
  const answers: string[] = [];
  const node = createNode({
    name: "N1",
    time,
    durability,
    initial: [],
    now: () => time.nowMs,
    lagMs: () => 10,
    onCut() {},
    onStragglersBack() {},
  });
  const run = (untilMs: number) => time.run(untilMs, () => false);
  const write = (uid: string, from = "A1") => serve(from, true, uid);
  const look = (uid: string, from = "A1") => serve(from, false, uid);

  async function serve(from: string, isWrite: boolean, uid: string): Promise<void> {
    node.serve<string>({
      from,
      isWrite,
      isDurable: true,
      step: async (data) => {
        const writes = [{ write: "set", key: uid, fields: [["name", "text"]] }] as const;
        if (isWrite) await data.apply({ slot: "", checks: [], writes });
        const [isThere] = await data.read([{ read: "exists", key: uid }]);
        return isThere ? "there" : "not there";
      },
      done() {},
      answer: (result) => void answers.push(`${uid} ${result}`),
    });
    await run(time.nowMs);
  }

  return { node, answers, write, look, run };
}

describe("a node of the simulated cluster", () => {
  test("answers a write at once with local durability, and loses it in a failover before its replica has it", async () => {
    const { node, answers, write, look, run } = nodeOf("local");
    await write("t1");
    await run(15);
    await write("t2");
    await run(20);
    expect(answers).toEqual(["t1 there", "t2 there"]);
    await node.failOver(new Set());
    await look("t1");
    await look("t2");
    await run(21);
    expect(answers.slice(2)).toEqual(["t1 there", "t2 not there"]);
  });

  test("answers nothing that its replica has not confirmed with replica durability, reads included", async () => {
    const { node, answers, write, look, run } = nodeOf("replica");
    await write("t1");
    await look("t1");
    await run(5);
    expect(answers).toEqual([]);
    await run(15);
    expect(answers).toEqual(["t1 there", "t1 there"]);
    await write("t2");
    await node.failOver(new Set());
    await run(100);
    expect(answers).toHaveLength(2);
  });

  test("shows stragglers the old primary until they are back, and takes what they wrote", async () => {
    const { node, answers, write, look, run } = nodeOf("local");
    await node.failOver(new Set(["B1"]));
    await write("t1", "B1");
    await look("t1", "B1");
    await look("t1", "A1");
    await run(1);
    expect(answers).toEqual(["t1 there", "t1 there", "t1 not there"]);
    node.endStraggling();
    await look("t1", "B1");
    await run(2);
    expect(answers.at(-1)).toBe("t1 not there");
    expect(node.wasAstray("B1", 0)).toBe(true);
    expect(node.wasAstray("A1", 0)).toBe(false);
  });

  test("shows the readers of a replica that stands still what it had", async () => {
    const { node, answers, write, look, run } = nodeOf("local");
    await node.readStale(new Set(["B1"]));
    await write("t1");
    await look("t1", "B1");
    await run(1);
    node.endStale();
    await look("t1", "B1");
    await run(2);
    expect(answers).toEqual(["t1 there", "t1 not there", "t1 there"]);
  });
});
