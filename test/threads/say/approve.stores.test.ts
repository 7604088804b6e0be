// For src/threads/say/approve.ts
import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/domain/refusal.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { serverCall } from "../scripted-agent.ts";

const NOT_WAITING = new Refusal("conflict", "No call of this id waits for this approval");

describe.each(storeKinds)("a call that needs approval, on $name", ({ prepare }) => {
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ here } = one), { limits: { toolResultTimeoutMs: 2_000 } });

  const decide = (callId: string, approved: boolean, by: "visitor" | "operator" = "visitor") =>
    here.threads.approve({ uid: "t1", slug: "shop", callId, approved, by });

  /** A run whose call waits; reads its step. */
  async function asked(confirm: "visitor" | "operator" = "visitor") {
    const reader = readerOf(await here.threads.say(says("t1", "Cancel my order")));
    const turn = await here.agent.turn();
    turn.call({ ...serverCall("c1"), confirm });
    await expect.poll(() => reader.lines.length).toBe(1);
    return reader;
  }

  it("asks by a step that says what would be called, is made when it is approved, and once", async () => {
    const reader = await asked();
    expect(reader.lines).toEqual([
      {
        type: "step",
        id: "clock",
        phase: "running",
        text: "Looking at the clock",
        approval: { callId: "c1", by: "visitor", tool: "clock", arguments: { n: 1 } },
      },
    ]);
    await Promise.all([decide("c1", true), decide("c1", true), decide("c1", true)]);
    (await here.agent.toolCall()).answer("Done");
    const next = await here.agent.turn();
    expect(next.turn.run.turns).toContainEqual({
      type: "result",
      callId: "c1",
      text: "Done",
      isError: false,
    });
    await decide("c1", true);
    await expect(decide("c1", false)).rejects.toEqual(
      new Refusal("conflict", "It was decided otherwise before"),
    );
    next.write("It is cancelled.");
    next.finish();
    expect(textOfLines(await reader.all)).toBe("It is cancelled.");
    await decide("c1", true);
    const [, reply] = await here.threads.history("t1", { limit: 9, before: null });
    expect(reply?.steps).toEqual([{ id: "clock", phase: "done", text: "Looking at the clock" }]);
  });

  it("is not made when it is declined, and its model is told", async () => {
    const reader = await asked();
    await decide("c1", false);
    const next = await here.agent.turn();
    expect(next.turn.run.turns.at(-1)).toMatchObject({
      text: "This call was not made: it was not approved.",
    });
    next.finish();
    expect((await reader.all).map((line) => ("phase" in line ? line.phase : line.type))).toEqual([
      "running",
      "failed",
      "done",
    ]);
  });

  it("is not made when nobody approves it in time", async () => {
    const reader = await asked();
    const next = await here.agent.turn();
    expect(next.turn.run.turns.at(-1)).toMatchObject({
      text: "This call was not made: nobody approved it in time.",
    });
    await expect(decide("c1", true)).rejects.toEqual(NOT_WAITING);
    next.finish();
    await reader.all;
  });

  it("of an operator is nobody else's to approve, nor an unknown one", async () => {
    const reader = await asked("operator");
    await expect(decide("c1", true)).rejects.toEqual(NOT_WAITING);
    await expect(decide("c2", true, "operator")).rejects.toEqual(NOT_WAITING);
    await decide("c1", true, "operator");
    (await here.agent.toolCall()).answer("Done");
    (await here.agent.turn()).finish();
    await reader.all;
  });

  it("is given up when the visitor goes on to something else", async () => {
    const reader = await asked();
    const second = readerOf(await here.threads.say(says("t1", "No, keep it")));
    expect((await reader.all).at(-1)).toMatchObject({ type: "error", code: "superseded" });
    const next = await here.agent.turn();
    expect(next.turn.text).toBe("No, keep it");
    next.write("Kept");
    next.finish();
    expect(textOfLines(await second.all)).toBe("Kept");
    await expect(decide("c1", true)).rejects.toEqual(NOT_WAITING);
  });

  it("of two in one turn each is asked for by itself", async () => {
    const reader = readerOf(await here.threads.say(says("t1", "Cancel both")));
    const turn = await here.agent.turn();
    turn.call(
      { ...serverCall("c1"), confirm: "visitor", readOnly: true },
      { ...serverCall("c2"), confirm: "visitor", readOnly: true },
    );
    await expect.poll(() => reader.lines.length).toBe(1);
    await decide("c1", true);
    (await here.agent.toolCall()).answer("One");
    await expect.poll(() => reader.lines.at(-1)).toMatchObject({ approval: { callId: "c2" } });
    await decide("c2", false);
    (await here.agent.turn()).finish();
    await reader.all;
  });
});
