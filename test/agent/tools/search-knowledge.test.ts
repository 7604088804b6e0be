// For src/agent/tools/search-knowledge.ts
import { expect, test } from "vitest";
import { createAgent } from "../../../src/agent/create-agent.ts";
import { useSearch } from "../../../src/agent/tools/search-knowledge.ts";
import { systemClock } from "../../../src/clock.ts";
import type { Channel } from "../../../src/domain/channels/channel.ts";
import type { FoundPassage } from "../../../src/knowledge.ts";
import { say } from "../../support/servers/model-server.ts";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import { systemMessage } from "../../../src/agent/prompt.ts";
import { channelWith, newRun, newTurn, silentLog } from "../run.ts";

const passage = (url: string, score: number, title = url): FoundPassage => ({
  title,
  heading: "",
  url,
  text: `Text of ${url}`,
  score,
});
const searching = (found: FoundPassage[]) => ({ search: async () => found });

test("the pages of the best passages are the sources, each once; chance hits are given to the model alone", async () => {
  const found = [passage("a", 10), passage("b", 9, ""), passage("a", 8), passage("c", 5.9), passage("d", 1)];
  const { text, sources, isError } = await useSearch(searching(found), "shop", "mugs");
  expect(isError).toBe(false);
  expect(sources).toEqual([
    { title: "a", url: "a" },
    { title: "b", url: "b" },
  ]);
  expect((JSON.parse(text) as { passages: object[] }).passages).toHaveLength(5);
});

test("where nothing is found the model is told so, and nothing stands under the reply", async () => {
  const { text, sources } = await useSearch(searching([]), "shop", "mugs");
  expect([JSON.parse(text), sources]).toEqual([
    { passages: [], note: expect.stringContaining("No passage of the documents has these words") as string },
    undefined,
  ]);
});

/** What the model of a channel is told and offered. */
async function asked(channel: Channel, isKnown = true) {
  const { server, model } = await openScriptedModel([[say("Hello")]]);
  const agent = createAgent({
    model,
    channel: () => channel,
    defaultModel: "scripted",
    maxInputTokens: 32_000,
    clock: systemClock,
    log: silentLog,
    ...(isKnown ? { knowledge: searching([]) } : {}),
  });
  await agent.think(newTurn(), () => {}, new AbortController().signal);
  await agent.close();
  const { messages = [], tools = [] } = server.requests[0]?.body ?? {};
  return {
    rules: JSON.stringify(messages[0]),
    tools: tools.flatMap((tool) => (tool.type === "function" ? [tool.function.name] : [])),
  };
}

test("the tool and its rule are there for a channel with documents, and for no other", async () => {
  const shop = channelWith({});
  const documents = { sources: [{ name: "rules", folder: "/rules" }] };
  for (const other of [await asked(shop), await asked({ ...shop, knowledge: documents }, false)]) {
    expect(other.tools).not.toContain("search_knowledge");
    expect(other.rules).not.toContain("search_knowledge");
  }
  const known = await asked({ ...shop, knowledge: documents });
  expect(known.tools).toContain("search_knowledge");
  expect(known.rules).toContain("call search_knowledge before you answer");
  expect(known.rules).not.toContain("Answer only what passages");
});

test("with `only` the rest is handed over, or said to be beyond what can be answered here", async () => {
  const shop = { ...channelWith({}), knowledge: { sources: [{ name: "rules", folder: "/r" }], only: true } };
  expect((await asked(shop)).rules).toContain("say that you cannot answer this here");
  const { rules, tools } = await asked({ ...shop, handoff: { enabled: true } });
  expect(rules).toContain("Where they do not answer the question, call hand_off instead of answering");
  expect(tools).toContain("hand_off");
});

test("outside the hours of its people no person can be called, and the model is told when somebody is there again", async () => {
  const shop = channelWith({});
  const hours = { timeZone: "UTC", week: {} };
  const open = await asked({ ...shop, handoff: { enabled: true } });
  const closed = await asked({ ...shop, handoff: { enabled: true, hours } });
  expect(open.tools).toContain("hand_off");
  expect(closed.tools).not.toContain("hand_off");
  expect(closed.rules).toContain("No person of this site is there now, and none can be called. When");
  const again = systemMessage({
    instructions: undefined,
    run: newRun(),
    text: "Hi",
    before: [],
    hasTools: false,
    nobodyThere: { againAtMs: Date.parse("2026-11-30T09:00:00Z"), timeZone: "UTC" },
    maxInputTokens: 10_000,
  });
  expect(again.content).toMatch(/Somebody is there again on Monday,? 30 November 2026 at 09:00 \(UTC\)\./);
});
