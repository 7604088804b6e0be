// For src/console/channels/draft.ts
import { expect, test } from "vitest";
import { changeOf, draftOf, linesOf } from "../../src/console/channels/draft.ts";
import type { ChannelView } from "../../src/console/service/views.ts";

const shop: ChannelView = {
  slug: "shop",
  kind: "web",
  publishableKey: "pk_shop",
  allowedOrigins: ["https://shop.example"],
  enabled: true,
  accessMode: "open",
  agent: { instructions: "Be short.", maxTokensPerDay: 50_000, mcpServers: { tools: { url: "https://x" } } },
};

test("a form that nobody touched writes nothing", () => {
  expect(changeOf(shop, draftOf(shop))).toBeNull();
  expect(changeOf(shop, { ...draftOf(shop), origins: " https://shop.example \n\n" })).toBeNull();
});

test("a change writes what differs, and nothing of the rest", () => {
  const draft = draftOf(shop);
  expect(changeOf(shop, { ...draft, instructions: "Be kind." })).toEqual({
    agent: { instructions: "Be kind." },
  });
  expect(changeOf(shop, { ...draft, enabled: false, accessMode: "whitelist" })).toEqual({
    enabled: false,
    accessMode: "whitelist",
  });
  expect(changeOf(shop, { ...draft, origins: "https://a.example\nhttps://b.example" })).toEqual({
    allowedOrigins: ["https://a.example", "https://b.example"],
  });
  expect(changeOf(shop, { ...draft, maxTokensPerUserPerDay: "900", images: true, files: false })).toEqual({
    agent: { maxTokensPerUserPerDay: 900, images: true, files: false },
  });
});

test("an emptied field takes its setting away", () => {
  const emptied = { ...draftOf(shop), instructions: "", maxTokensPerDay: "" };
  expect(changeOf(shop, emptied)).toEqual({ agent: { instructions: null, maxTokensPerDay: null } });
});

test("origins stand a line each, or between commas", () => {
  expect(linesOf("https://a.example, https://b.example\n\n https://c.example ")).toEqual([
    "https://a.example",
    "https://b.example",
    "https://c.example",
  ]);
});

test("hand-off is written whole, with what the form does not show", () => {
  const handoff = { enabled: true, waitSeconds: 60, message: "One moment.", replies: ["Hello"] };
  const channel: ChannelView = { ...shop, handoff };
  expect(changeOf(channel, draftOf(channel))).toBeNull();
  expect(changeOf(channel, { ...draftOf(channel), waitSeconds: "", unavailable: "Nobody is here." })).toEqual(
    {
      handoff: { enabled: true, message: "One moment.", replies: ["Hello"], unavailable: "Nobody is here." },
    },
  );
});

test("ready answers are written where one was changed, added or taken away, each with its own lines", () => {
  const handoff = { enabled: true, replies: ["Hello,\nhow are you?", "One moment."] };
  const channel: ChannelView = { ...shop, handoff };
  const draft = draftOf(channel);
  expect(changeOf(channel, { ...draft, replies: [...draft.replies, "  "] })).toBeNull();
  const writes = (replies: string[]) => changeOf(channel, { ...draft, replies });
  expect(writes(["Hello,\nhow are you?", "Goodbye. "])).toEqual({
    handoff: { enabled: true, replies: ["Hello,\nhow are you?", "Goodbye."] },
  });
  expect(writes([""])).toEqual({ handoff: { enabled: true } });
});

test("queues are written one a line, each once, commas and all", () => {
  const channel: ChannelView = { ...shop, handoff: { enabled: true, queues: ["returns, repairs", "sales"] } };
  const draft = draftOf(channel);
  expect(draft.queues).toBe("returns, repairs\nsales");
  expect(changeOf(channel, { ...draft, queues: " returns, repairs \n\nsales\nsales" })).toBeNull();
  expect(changeOf(channel, { ...draft, queues: "sales\nparts" })).toEqual({
    handoff: { enabled: true, queues: ["sales", "parts"] },
  });
  expect(changeOf(channel, { ...draft, queues: "" })).toEqual({ handoff: { enabled: true } });
});

test("retention is written whole, fractions too, and emptied where both fields are", () => {
  const channel: ChannelView = { ...shop, retention: { threadsDays: 30, anonymousDays: 0.5 } };
  const draft = draftOf(channel);
  expect(draft).toMatchObject({ threadsDays: "30", anonymousDays: "0.5" });
  expect(changeOf(channel, draft)).toBeNull();
  const writes = (threadsDays: string, anonymousDays: string) =>
    changeOf(channel, { ...draft, threadsDays, anonymousDays });
  expect(writes("7", "0.5")).toEqual({ retention: { threadsDays: 7, anonymousDays: 0.5 } });
  expect(writes("", "0.25")).toEqual({ retention: { anonymousDays: 0.25 } });
  expect(writes("", "")).toEqual({ retention: {} });
  expect(changeOf(shop, { ...draftOf(shop), threadsDays: "90" })).toEqual({ retention: { threadsDays: 90 } });
});
