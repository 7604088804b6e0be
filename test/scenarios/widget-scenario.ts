import assert from "node:assert/strict";
import type { ToolCallLine } from "../../machines/line.ts";
import { ask, objectOf, terminalOf, textOf } from "./page.ts";
import type { Answer } from "./page.ts";

/**
 * A browser's part in one conversation, by fetch alone: a visitor, a thread, a catalog, one message, three page tools in
 * a row, the end, and the history. With several addresses the second tool is answered where the run did not begin, and
 * each stream is read again elsewhere. Throws an AssertionError at the first answer that is not as the spec says.
 */
export interface Door {
  /** Instances of one service; at least one. */
  urls: readonly string[];
  origin: string;
  publishableKey: string;
}

export const PAGE_TOOLS = ["search_products", "add_to_cart", "check_out"] as const;
export const WISH = `Please use ${PAGE_TOOLS.join(", then ")}: I would like the red mug`;

export async function playWidget(door: Door, tell: (sentence: string) => void = () => {}): Promise<void> {
  const { origin, publishableKey } = door;
  const instance = (nth: number) => door.urls[nth % door.urls.length] ?? "";
  const post = (path: string, headers: Record<string, string>, body?: unknown, nth = 0) =>
    ask(instance(nth), `/v1/widget${path}`, { headers: { origin, ...headers }, body });

  const visitor = await enter();
  const { threadId } = created<{ threadId: string }>(await post("/threads", visitor));
  const thread = `/threads/${threadId}`;
  const get = (what: string, nth: number, who = visitor) =>
    ask(instance(nth), `/v1/widget${thread}/${what}`, { method: "GET", headers: { origin, ...who } });

  const webmcpTools = PAGE_TOOLS.map((name) => ({ name, description: `The page's ${name}` }));
  assert.equal((await post("/tools", visitor, { threadId, webmcpTools })).status, 204);
  assert.equal((await get("stream", 1)).status, 204, "a thread without a run has nothing to re-attach to");
  tell("a visitor has a thread and a catalog");

  const streams = [await post("/messages", visitor, { threadId, text: WISH, page: "/shop?x=1" })];
  for (const [nth, tool] of PAGE_TOOLS.entries()) streams.push(await useTool(tool, nth, streams.at(-1)));
  const end = terminalOf(streams.at(-1) ?? assert.fail("no stream"));
  assert.equal(end.type, "done");
  assert.ok(Number.isInteger(end.type === "done" && end.elapsedMs));
  tell(`done: ${JSON.stringify(end)}`);

  const again = await get("stream", 1);
  assert.deepEqual(terminalOf(again), end, "whoever re-attaches hears the same end");
  assert.equal(textOf(again), streams.map(textOf).join(""));

  const { items } = objectOf<{ items: Record<string, unknown>[] }>(await get("messages", 1));
  assert.deepEqual(
    items.map(({ role, content }) => ({ role, content })),
    [
      { role: "user", content: WISH },
      { role: "assistant", content: streams.map(textOf).join("") },
    ],
  );
  const steps = items[1]?.["steps"] as { id: string; phase: string }[];
  assert.deepEqual(
    steps.map(({ id, phase }) => [id, phase]),
    PAGE_TOOLS.map((tool) => [tool, "done"]),
  );
  const stranger = await enter();
  assert.equal((await get("messages", 0, stranger)).status, 404, "a thread of another visitor is none");
  tell("the history holds the message, the reply and its steps");

  async function enter(): Promise<Record<string, string>> {
    const headers = { "x-publishable-key": publishableKey };
    const { visitorToken, expiresAt } = created<{ visitorToken: string; expiresAt: number }>(
      await post("/visitors", headers),
    );
    assert.ok(expiresAt > Date.now());
    return { "x-visitor-token": visitorToken };
  }

  /** Runs the tool that the stream before ended in; the stream that its result opens. */
  async function useTool(tool: string, nth: number, before: Answer | undefined): Promise<Answer> {
    const call = callOf(before);
    assert.equal(call.tool, tool);
    assert.deepEqual(
      terminalOf(await get("stream", nth + 1)),
      call,
      "a page that was left finds the pending call",
    );

    const result = { content: [{ type: "text", text: `${tool} did it` }] };
    const body = { threadId, callId: call.callId, tool, result, page: "/shop" };
    const stale = await post("/tool-results", visitor, { ...body, callId: "another" }, nth);
    assert.deepEqual([stale.status, stale.text], [409, ""]);
    const resumed = await post("/tool-results", visitor, body, nth);
    assert.equal(resumed.status, 200);
    const [step] = resumed.lines;
    assert.deepEqual(step?.type === "step" && [step.id, step.phase], [tool, "done"]);
    const repeated = await post("/tool-results", visitor, body, nth + 1);
    assert.deepEqual(terminalOf(repeated), terminalOf(resumed), "a repeated result runs nothing again");
    tell(`${tool}(${JSON.stringify(call.arguments)}), then ${terminalOf(resumed).type}`);
    return resumed;
  }
}

function created<Fields>(answer: Answer): Fields {
  assert.equal(answer.status, 201, answer.text);
  return objectOf<Fields>(answer);
}

function callOf(stream: Answer | undefined): ToolCallLine {
  assert.equal(stream?.status, 200, stream?.text);
  const line = terminalOf(stream);
  assert.equal(line.type, "tool_call", JSON.stringify(line));
  return line as ToolCallLine;
}
