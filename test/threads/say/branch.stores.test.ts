// For src/threads/say/branch.ts, src/domain/threads/branches.ts
import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/domain/refusal.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { pageCall } from "../scripted-agent.ts";

const GONE = new Refusal("not-found");

describe.each(storeKinds)("a branch, on $name", ({ prepare }) => {
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ here } = one));

  const replace = async (replaces: string, text: string, clientMessageId: string | null = null) =>
    readerOf(await here.threads.say({ ...says("t1", text, clientMessageId), replaces }));
  const again = async (messageId: string, clientMessageId: string | null = null) => {
    const { text: _, ...asked } = says("t1", "", clientMessageId);
    return readerOf(await here.threads.answerAgain({ ...asked, messageId }));
  };
  const history = async (all = false) =>
    (await here.threads.history("t1", { limit: 99, before: null, ...(all ? { all: true } : {}) })).map(
      ({ id, content }) => `${id} ${content}`,
    );
  /** Plays a whole exchange; returns what the model was told of earlier messages. */
  async function exchange(reader: { all: Promise<unknown> }, reply: string) {
    const played = await here.agent.turn();
    played.write(reply);
    played.finish();
    await reader.all;
    const { text, before } = played.turn;
    return { text, before: before.map(({ content }) => content) };
  }
  const say = async (text: string) => readerOf(await here.threads.say(says("t1", text)));

  it("begins in the place of a message: the model is told what came before it, and the history shows it alone", async () => {
    await exchange(await say("Hello"), "Hi");
    await exchange(await say("A red mug"), "18 euros");
    await exchange(await say("Thanks"), "Welcome");
    const told = await exchange(await replace("3", "A blue mug", "k"), "20 euros");
    expect(told).toEqual({ text: "A blue mug", before: ["Hello", "Hi"] });
    expect(await history()).toEqual(["1 Hello", "2 Hi", "7 A blue mug", "8 20 euros"]);
    expect(await history(true)).toHaveLength(8);
    const repeat = await replace("3", "A blue mug", "k");
    expect(textOfLines(await repeat.all)).toBe("20 euros");
    const next = await exchange(await say("Two"), "40 euros");
    expect(next.before).toEqual(["Hello", "Hi", "A blue mug", "20 euros"]);
    const [, , , , replaced] = await here.threads.history("t1", { limit: 99, before: null });
    expect(replaced).not.toHaveProperty("replaces");
  });

  it("is another reply to the same message, as often as it is wanted", async () => {
    await exchange(await say("A joke"), "One");
    const second = await exchange(await again("2"), "Two");
    expect(second).toEqual({ text: "A joke", before: [] });
    expect(await history()).toEqual(["1 A joke", "3 Two"]);
    expect(await exchange(await again("3", "k"), "Three")).toEqual({ text: "A joke", before: [] });
    expect(textOfLines(await (await again("3", "k")).all)).toBe("Three");
    expect(await history()).toEqual(["1 A joke", "4 Three"]);
    const items = await here.threads.history("t1", { limit: 99, before: null, all: true });
    expect(items.map(({ replaces, answers, otherBranch }) => [replaces, answers, otherBranch])).toEqual([
      [undefined, undefined, undefined],
      [undefined, undefined, true],
      ["2", "1", true],
      ["3", "1", undefined],
    ]);
    expect((await exchange(await say("Another"), "Four")).before).toEqual(["A joke", "Three"]);
  });

  it("ends the run that goes on, or waits for its page, as superseded", async () => {
    await exchange(await say("A joke"), "One");
    const running = await say("Explain it");
    (await here.agent.turn()).write("It is");
    const other = await replace("1", "A poem");
    expect((await running.all).at(-1)).toMatchObject({ type: "error", code: "superseded" });
    expect(await exchange(other, "Roses")).toEqual({ text: "A poem", before: [] });
    expect(await history()).toEqual(["5 A poem", "6 Roses"]);
    const waiting = await say("Buy it");
    (await here.agent.turn()).call(pageCall("c1"));
    await waiting.all;
    expect(await exchange(await again("6"), "Violets")).toEqual({ text: "A poem", before: [] });
    expect(await history()).toEqual(["5 A poem", "9 Violets"]);
  });

  it("is not begun where there is no such item, or it is of the other kind, or in another branch", async () => {
    await exchange(await say("Hello"), "Hi");
    await here.threads.speak({ uid: "t1", slug: "shop", text: "News", clientMessageId: null });
    for (const id of ["2", "4", "0", "x", ""]) await expect(replace(id, "Other")).rejects.toEqual(GONE);
    for (const id of ["1", "3", "4", "x"]) await expect(again(id)).rejects.toEqual(GONE);
    await exchange(await replace("1", "Good day"), "Hi");
    for (const id of ["1", "2"]) await expect(replace(id, "Other")).rejects.toEqual(GONE);
    expect(here.agent.turns).toBe(2);
  });

  it("of two that are wanted at once, each begins where the other left the conversation, and each is answered", async () => {
    await exchange(await say("A joke"), "One");
    const both = await Promise.all([again("2"), again("2")]);
    for (const text of ["Two", "Three"]) {
      const turn = await here.agent.turn();
      expect([turn.turn.text, turn.turn.before]).toEqual(["A joke", []]);
      turn.write(text);
      turn.finish();
    }
    const texts = await Promise.all(both.map(async ({ all }) => textOfLines(await all)));
    expect(texts.sort()).toContain("Three");
    expect((await history()).map((item) => item.replace(/^\d+ /, ""))).toEqual(["A joke", "Three"]);
  });

  it("shows the model the images of a message that is answered again", async () => {
    const url = `data:image/png;base64,${Buffer.from("image").toString("base64")}`;
    const first = readerOf(await here.threads.say({ ...says("t1", "What is it?"), attachments: [{ url }] }));
    await exchange(first, "A mug");
    const [asked] = await here.threads.history("t1", { limit: 9, before: null });
    const other = await again("2");
    const { turn, ...played } = await here.agent.turn();
    expect([turn.askedIn, turn.images?.get(asked?.runId ?? "")]).toEqual([asked?.runId, [url]]);
    played.finish();
    await other.all;
  });

  it("leaves what a person has said alone", async () => {
    await exchange(await say("Hello"), "Hi");
    await here.threads.people.ask({ uid: "t1", slug: "shop", by: "transport", reason: null });
    const asked = await again("2");
    expect((await asked.all).at(-1)).toMatchObject({ type: "done", handledBy: "person" });
    await (
      await replace("1", "Other")
    ).all;
    expect(await history()).toEqual(["1 Hello", "2 Hi", "3 Other"]);
  });
});
