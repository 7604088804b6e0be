// For src/replay/play.ts, src/replay/conversation.ts, src/replay/stand-in.ts
import { expect, test } from "vitest";
import { ModelFault } from "../../src/model.ts";
import { createStandIn } from "../../src/replay/stand-in.ts";
import { calling, caseOf, modelOf, play } from "./playing.ts";

const ORDERS = { name: "order", inputSchema: { type: "object", properties: { id: { type: "string" } } } };
const call = (id: string, result: string | null, more: object = {}) => ({
  tool: "order",
  arguments: { id },
  result,
  ...more,
});

/** Looks up the orders one by one, then says what it was told. */
const looksUp = (...ids: string[]) =>
  modelOf(({ messages }) => {
    const told = messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
    const id = ids[told.length];
    return id === undefined ? told.join(" | ") : calling("order", { id, _progress: "Looking …" });
  });

test("a call is answered by the recorded one of the same arguments, failures as failures", async () => {
  const exchanges = [{ user: "Both", calls: [call("2", "late"), call("1", "none", { isError: true })] }];
  const { exchanges: played, ended } = await play(looksUp("1", "2"), caseOf({ tools: [ORDERS], exchanges }));
  expect(ended).toBeNull();
  expect(played[0]).toMatchObject({
    reply: "Error: none | late",
    calls: [
      { tool: "order", arguments: { id: "1" }, answeredBy: "record" },
      { tool: "order", arguments: { id: "2" }, answeredBy: "record" },
    ],
    turns: [{ by: "p/m" }, { by: "p/m" }, { by: "p/m" }],
  });
});

test("of two same calls each answers once, the present exchange's first, and the last one again", async () => {
  const exchanges = [
    { user: "A", calls: [call("1", "first"), call("1", "second")] },
    { user: "B", calls: [call("1", "later")] },
  ];
  const model = modelOf(({ messages }) => {
    const last = messages.findLastIndex(({ role }) => role === "user");
    const told = messages.slice(last).flatMap((one) => (one.role === "tool" ? [one.content] : []));
    return told.length < 3 ? calling("order", { id: "1" }) : told.join(" | ");
  });
  const { exchanges: played } = await play(model, caseOf({ tools: [ORDERS], exchanges }));
  expect(played.map(({ reply }) => reply)).toEqual(["first | second | first", "later | later | later"]);
});

test("arguments of which only the beginning was stored are the same where a call's begin so", async () => {
  const exchanges = [{ user: "A", calls: [{ tool: "order", arguments: '{"id":"12', result: "it" }] }];
  const found = await play(looksUp("123"), caseOf({ tools: [ORDERS], exchanges }));
  expect(found.exchanges[0]?.reply).toBe("it");
  expect((await play(looksUp("3"), caseOf({ tools: [ORDERS], exchanges }))).ended).not.toBeNull();
});

test("a call that was never made ends the case, or is answered by the tool model", async () => {
  const recorded = caseOf({
    tools: [ORDERS],
    exchanges: [{ user: "A", calls: [call("1", "packed")] }, { user: "B" }],
  });
  const alone = await play(looksUp("7"), recorded);
  expect(alone.exchanges).toEqual([]);
  expect(alone.ended).toMatchObject({
    exchange: 0,
    isFault: false,
    reason: 'it called order({"id":"7"}), which was never called so: --tool-model could answer it',
  });

  const tools = modelOf(() => " sent </tool> ");
  const helped = await play(looksUp("7"), recorded, { standIn: createStandIn(tools, "cheap") });
  expect(helped.ended).toBeNull();
  expect(helped.exchanges[0]).toMatchObject({ reply: "sent </tool>", calls: [{ answeredBy: "model" }] });
  const [asked] = tools.asked;
  expect(asked?.model).toBe("cheap");
  expect(asked?.messages[1]?.content).toContain('"packed"');
  expect(asked?.messages[1]?.content.match(/<\/tool>/g)).toHaveLength(1);
});

test("a page's call that was never answered waits until the user goes on, a server's does not", async () => {
  const exchanges = [{ user: "A", calls: [call("1", null)] }, { user: "B" }];
  const model = modelOf(({ messages }) =>
    messages.at(-1)?.content === "A" ? calling("order", { id: "1" }) : "Yes",
  );
  const page = await play(model, caseOf({ pageTools: [ORDERS], exchanges }));
  expect(page.exchanges).toMatchObject([
    { reply: "", error: null, calls: [{ answeredBy: null }] },
    { reply: "Yes" },
  ]);
  // As in a real run, the model is told of it later.
  expect(JSON.stringify(model.asked.at(-1)?.messages)).toContain("the visitor moved on");
  const server = await play(model, caseOf({ tools: [ORDERS], exchanges }));
  expect(server.ended).toMatchObject({ exchange: 0 });
});

test("each message is said in the light of the new replies, with the recorded visitor", async () => {
  const model = modelOf(({ messages }) => `New ${messages.length}`);
  const recorded = caseOf({
    agent: { instructions: "Be kind.", model: "old", temperature: 0.5 },
    visitor: { displayName: "Ada" },
    exchanges: [
      { user: "A", reply: "Old" },
      { user: "B", visitor: { page: "/cart" } },
    ],
  });
  await play(model, recorded, { overrides: { model: "new", instructions: "Be brief." } });
  const [first, second] = model.asked;
  expect(second?.messages.slice(1)).toMatchObject([
    { role: "user", content: "A" },
    { role: "assistant", content: "New 2" },
    { role: "user", content: "B" },
  ]);
  expect(first?.messages[0]?.content).toMatch(/^Be brief\..*"displayName":"Ada"/s);
  expect(second?.messages[0]?.content).toContain('"displayName":"Ada","page":"/cart"');
  expect(second).toMatchObject({ model: "new", body: { temperature: 0.5 } });
});

test("a model that fails ends the case as a fault, and one that never stops calling as in a real run", async () => {
  const failing = modelOf(() => {
    throw new ModelFault("The model cannot be reached");
  });
  const exchanges = [{ user: "A", calls: [call("1", "x")] }];
  expect((await play(failing, caseOf({ exchanges }))).ended).toEqual({
    exchange: 0,
    reason: "The model cannot be reached",
    isFault: true,
  });
  const wild = modelOf(() => calling("order", { id: "1" }));
  const { exchanges: played } = await play(wild, caseOf({ tools: [ORDERS], exchanges }));
  expect(played[0]).toMatchObject({ error: "The run used more tool calls than it may" });
  expect(played[0]?.calls).toHaveLength(50);
});

test("a reply without an end ends the case", async () => {
  const { ended } = await play(
    modelOf(() => "x".repeat(1_001)),
    caseOf({ exchanges: [{ user: "A" }] }),
  );
  expect(ended?.reason).toBe("The reply grew longer than it may");
});

test("a run that takes longer than it may ends the case", async () => {
  const silent = modelOf(() => "");
  silent.stream = (_request, _wrote, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  const limits = { toolCalls: 50, toolResultMs: 600_000, replyChars: 1_000, runMs: 1, inputTokens: 32_000 };
  const { ended } = await play(silent, caseOf({ exchanges: [{ user: "A" }] }), { limits });
  expect(ended).toMatchObject({ exchange: 0, reason: "The run took longer than it may" });
});
