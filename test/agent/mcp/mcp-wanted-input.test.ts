// For src/agent/mcp/wanted-input.ts, src/agent/mcp/connect/asking.ts, src/agent/mcp/connect/link.ts
import { describe, expect, it, test } from "vitest";
import type { Caller } from "../../../src/agent/mcp/identity.ts";
import { createLog } from "../../../src/log.ts";
import { Secret } from "../../../src/secret.ts";
import { shopChannel } from "../../models/shopper.ts";
import { call } from "../../support/servers/model-server.ts";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import { sendMessage, startTestService } from "../../support/servers/service.ts";
import { listing, openScriptedServer, say, sayError } from "./scripted-mcp-server.ts";
import type { Player } from "./scripted-mcp-server.ts";
import { callOf, never, openSessions } from "./sessions.ts";

const CALLER: Caller = { userId: "u", externalId: null, channel: "shop", thread: "t", isVerified: false };
const LINK = "https://auth.example/x?state=1";

const SIGN_IN = "The visitor must sign in";
const QUESTION = "The tool asks for input: Which size?";

/** How a tool answers; what the model reads; and what the visitor sees where the server knows who asks, and where not. */
const WANTING: readonly [string, Player, string, string | undefined, string | undefined][] = [
  ["P9: asks a question", wanting({ message: "Which size?" }), QUESTION, "Which size?", "Which size?"],
  [
    "P10: asks for a visit to a link",
    wanting({ mode: "url", url: LINK, message: "m" }),
    SIGN_IN,
    LINK,
    undefined,
  ],
  ["P10: answers -32042 with a link", refusing([{ mode: "url", url: LINK }]), SIGN_IN, LINK, undefined],
  [
    "P10: answers -32042 with http",
    refusing([{ mode: "url", url: "http://auth.example/" }]),
    SIGN_IN,
    undefined,
    undefined,
  ],
  [
    "P10: answers -32042 with a script",
    refusing([{ mode: "url", url: "javascript:alert(1)" }]),
    SIGN_IN,
    undefined,
    undefined,
  ],
  [
    "P10: answers -32042 with a name in it",
    refusing([{ url: "https://shop.example@evil.example/" }]),
    SIGN_IN,
    undefined,
    undefined,
  ],
  ["P10: answers -32042 without a link", refusing(undefined), SIGN_IN, undefined, undefined],
  ["P10: answers -32042 with anything", refusing({ a: 1 }), SIGN_IN, undefined, undefined],
  [
    "P9: asks for a model",
    (response, posted) =>
      say(response, posted, {
        resultType: "input_required",
        inputRequests: { a: { method: "sampling/createMessage", params: {} } },
      }),
    'The tool asks for input that this chat cannot give ("sampling/createMessage")',
    undefined,
    undefined,
  ],
  [
    "P9: asks for nothing that can be read",
    (response, posted) => say(response, posted, { resultType: "input_required", inputRequests: [null, 7] }),
    "The tool asks for input that this chat cannot give",
    undefined,
    undefined,
  ],
];

describe("a tool that wants input", () => {
  it.each(WANTING)(
    "%s: the model is told, and each visitor sees their own alone",
    async (_, player, told, own, others) => {
      const server = await openScriptedServer({ "tools/call": player });
      const lines: string[] = [];
      const log = createLog({
        level: "info",
        secrets: [],
        destination: { write: (line) => void lines.push(line) },
      });
      const sessions = openSessions({}, { log, variable: () => new Secret("k") });
      const ask = async (settings: object) => {
        const servers = { s: { url: server.url, ...settings } };
        return sessions.call("shop", servers, callOf("s", "find"), never(), CALLER);
      };
      const byName = await ask({ identity: { key: "$KEY" } });
      expect([byName.isError, byName.shown]).toEqual([true, own]);
      const byNobody = await ask({});
      expect([byNobody.isError, byNobody.shown]).toEqual([true, others]);
      await ask({});
      for (const { text } of [byName, byNobody]) {
        expect(text).toContain(told);
        expect(text).not.toContain("auth.example");
      }
      // Once for each connection that could not give it.
      expect(lines).toHaveLength([own, others].filter((shown) => shown === undefined).length);
      for (const line of lines)
        expect(line).toContain("links are shown where they are https and the server has identity");
    },
  );

  it("P9: that says that its result is complete has answered", async () => {
    const server = await openScriptedServer({
      "tools/call": (response, posted) =>
        say(response, posted, { resultType: "complete", content: [{ type: "text", text: "M" }] }),
    });
    const answer = await openSessions().call(
      "shop",
      { s: { url: server.url } },
      callOf("s", "find"),
      never(),
    );
    expect(answer).toEqual({ text: "M", isError: false });
  });
});

test("P9: the visitor sees the question in the call's step, and the model can ask it", async () => {
  const tools = listing([{ name: "find", inputSchema: { type: "object" } }]);
  const server = await openScriptedServer({ ...tools, "tools/call": wanting({ message: "Which size?" }) });
  const { model, server: asked } = await openScriptedModel([
    [call("find", { _progress: "Looking" })],
    "Which size?",
  ]);
  const agent = { mcpServers: { shop: { url: server.url } } };
  const { url } = await startTestService({
    model,
    channels: [shopChannel(agent)],
    env: { MCP_PRIVATE: "on" },
  });
  const { lines } = await sendMessage(url, { threadId: "t", userId: "u", text: "Hi", channel: "shop" });
  expect(lines.filter(({ type }) => type === "step")).toEqual([
    { type: "step", id: "find", phase: "running", text: "Looking" },
    { type: "step", id: "find", phase: "failed", text: "Which size?" },
  ]);
  expect(JSON.stringify(asked.requests[1]?.body.messages)).toContain(`Error: ${QUESTION}`);
});

function wanting(params: object): Player {
  return (response, posted) =>
    say(response, posted, {
      resultType: "input_required",
      inputRequests: { a: { method: "elicitation/create", params } },
      requestState: "xyz",
    });
}

function refusing(elicitations: unknown): Player {
  return (response, posted) =>
    sayError(response, posted, { code: -32_042, message: `auth ${LINK}`, data: { elicitations } });
}
