// For src/stores/content-keys/, src/stores/sealing.ts
import { describe, expect, onTestFinished, test } from "vitest";
import { testWrapping } from "../support/stores/content-keys.ts";
import { call, say } from "../support/servers/model-server.ts";
import { storesWithFiles } from "../stores/content-keys/stored-bytes.ts";
import { OPERATOR_KEY, openWhole } from "./clients/open-whole.ts";
import type { Whole } from "./clients/open-whole.ts";

/** What must be found nowhere, and where it comes from. */
const CANARIES = {
  text: "canary-text",
  page: "canary-page",
  context: "canary-context",
  argument: "canary-argument",
  result: "canary-result",
  reply: "canary-reply",
  note: "canary-note",
};

const operator = { authorization: `Bearer ${OPERATOR_KEY}` };

describe.each(storesWithFiles)("a service with CONTENT_KEYS, on $name", ({ prepare }) => {
  async function open(...keys: Parameters<typeof testWrapping>) {
    const place = await prepare();
    const start = async (...of: Parameters<typeof testWrapping>): Promise<Whole> => {
      const whole = await openWhole({
        store: await place.open({ wrapping: testWrapping(...of) }),
        script: (_, nth) =>
          nth === 0 ? [call("paint", { colour: CANARIES.argument })] : [say(CANARIES.reply)],
      });
      onTestFinished(() => whole.close());
      return whole;
    };
    return { place, start, whole: await start(...keys) };
  }

  /** A conversation with a call of the page's tool, and its history. */
  async function talk(whole: Whole) {
    const token = await whole.newToken();
    const threadId = await whole.newThread(token);
    const said = {
      threadId,
      text: CANARIES.text,
      page: `/${CANARIES.page}`,
      customerContext: { plan: CANARIES.context },
      clientMessageId: "m1",
    };
    const webmcpTools = [{ name: "paint", inputSchema: { type: "object" } }];
    expect((await whole.visitor(token, "POST", "tools", { threadId, webmcpTools })).status).toBe(204);
    const asked = await whole.visitor(token, "POST", "messages", said);
    const last = asked.lines().at(-1);
    expect(last).toMatchObject({ type: "tool_call", arguments: { colour: CANARIES.argument } });
    const result = { content: [{ type: "text", text: CANARIES.result }] };
    const callId = last?.type === "tool_call" ? last.callId : "";
    const answer = { threadId, callId, tool: "paint", result };
    const answered = await whole.visitor(token, "POST", "tool-results", answer);
    expect(answered.lines().at(-1)).toMatchObject({ type: "done" });
    const read = async () => (await whole.visitor(token, "GET", `threads/${threadId}/messages`)).json();
    return { token, threadId, said, read };
  }

  test("says everything to who may hear it, and has none of it on the disk", async () => {
    const { whole, place } = await open();
    const { token, threadId, said, read } = await talk(whole);
    expect(await read()).toMatchObject({
      items: [{ content: CANARIES.text }, { role: "assistant", content: CANARIES.reply }],
    });
    const again = await whole.visitor(token, "POST", "messages", said);
    expect([again.status, again.lines().at(-1)?.type]).toEqual([200, "done"]);
    const other = await whole.visitor(token, "POST", "messages", { ...said, text: "Something else" });
    expect(other.status).toBe(422);

    const found = await whole.ask({
      method: "GET",
      path: "/v1/operator/channels/shop/threads",
      headers: operator,
    });
    const { items } = found.json() as { items: { id: string; userId: string; threadId: string }[] };
    const { id, userId } = items.find((item) => item.threadId === threadId)!;
    const path = `/v1/operator/channels/shop/users/${userId}`;
    const exported = await whole.ask({ method: "GET", path: `${path}/export`, headers: operator });
    expect(exported.text).toContain(CANARIES.reply);
    const runs = await whole.ask({
      method: "GET",
      path: `/v1/operator/channels/shop/threads/${id}/runs`,
      headers: operator,
    });
    expect(runs.status).toBe(200);

    const bytes = await place.bytes();
    expect(bytes.includes(id)).toBe(true);
    expect(Object.values(CANARIES).filter((canary) => bytes.includes(canary))).toEqual([]);

    expect((await whole.ask({ method: "DELETE", path, headers: operator })).status).toBe(202);
    expect((await whole.visitor(token, "GET", `threads/${threadId}/messages`)).status).toBe(401);
  });

  test("answers 503 where the key is missing, and has it all again when the key is back", async () => {
    const { whole, start } = await open();
    const { token, threadId, read } = await talk(whole);
    const before = await read();
    const without = await start([], false);
    const path = `threads/${threadId}/messages`;
    const history = await without.visitor(token, "GET", path);
    const message = await without.visitor(token, "POST", "messages", { threadId, text: "Hello?" });
    expect([history.status, message.status]).toEqual([503, 503]);
    expect(without.logged.join("")).toContain("wrapped by k1, which is not in CONTENT_KEYS");
    expect((await (await start()).visitor(token, "GET", path)).json()).toEqual(before);
  });
});
