// For src/traces/
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { startMcpHttpServer } from "../agent/mcp/mcp-http-server.ts";
import { ask, objectOf, terminalOf } from "../scenarios/page.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { call, hold, say, startModelServer, usage } from "../support/servers/model-server.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { startReceiver } from "./receiver.ts";
import type { ReceivedSpan } from "./receiver.ts";
import { treeOf } from "./span-tree.ts";

const ORIGIN = "https://shop.example";
const PUBLISHABLE_KEY = "pk_traces";
const CALLER = { traceId: "a".repeat(32), spanId: "b".repeat(16) };
/** In every text that somebody says, writes or answers here. */
const CANARY = "canary";

test.each(inject("stores"))(
  "a run's trace: a server's tool, a process that is killed, a takeover and a page's tool, on the %s store",
  async (kind) => {
    const receiver = await startReceiver();
    const model = await startModelServer([
      [usage(100, 10), call("look_up", { text: CANARY })],
      [say(CANARY), hold()],
      [usage(200, 20), say(CANARY), call("add_to_cart", { text: CANARY })],
      [usage(300, 30), say(CANARY)],
    ]);
    const mcp = await startMcpHttpServer([[{ name: "look_up", inputSchema: { type: "object" } }]], () =>
      Promise.resolve({ content: [{ type: "text", text: CANARY }] }),
    );
    onTestFinished(async () => {
      await mcp.close();
      await model.close();
    });
    const redis = kind === "redis" ? await startRedis() : null;
    onTestFinished(() => redis?.stop());
    const dataDir = temporaryFolder();
    const channelsFile = join(dataDir, "channels.json");
    writeFileSync(channelsFile, JSON.stringify({ channels: [channelWith(mcp.url)] }));
    const env = {
      DATA_DIR: dataDir,
      CHANNELS_FILE: channelsFile,
      HARNESS_API_KEY: TEST_KEY,
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: "scripted",
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: "50",
      ...(redis ? { REDIS_URL: redis.url } : {}),
    };

    const first = await startServiceProcess(env);
    const visitor = await enter(first.url);
    const said = ask(first.url, "/v1/widget/messages", {
      headers: { ...visitor.headers, traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` },
      body: { threadId: visitor.threadId, text: CANARY, page: `/${CANARY}` },
    }).catch(() => null);
    await model.held();
    // What a process has not sent dies with it.
    await expect.poll(() => namesOf(receiver.spans)).toContain("execute_tool look_up");
    await expect.poll(() => namesOf(receiver.spans)).toContain("POST /v1/widget/messages");
    first.kill("SIGKILL");
    await first.exit;
    await said;

    const second = await startServiceProcess(env);
    await expect.poll(() => model.requests.length).toBe(3);
    const asked = await attached(second.url, visitor);
    await expect.poll(() => namesOf(receiver.spans)).toContain("invoke_agent");
    const answered = await ask(second.url, "/v1/widget/tool-results", {
      headers: visitor.headers,
      body: { threadId: visitor.threadId, ...asked, result: { text: CANARY } },
    });
    expect(terminalOf(answered).type).toBe("done");
    second.kill("SIGTERM");
    expect(await second.exit).toBe(0);

    const spans = receiver.spans.filter(
      ({ attributes }) => !SETTING_UP.has(String(attributes["http.route"])),
    );
    const [taken, last] = spans
      .filter(({ name }) => name === "invoke_agent")
      .sort((a, b) => a.startMs - b.startMs);
    const lost = taken?.links[0]?.spanId ?? "";
    const names = new Map([
      [CALLER.spanId, "the caller"],
      [lost, "the segment that was killed"],
      [taken?.spanId ?? "", "taken over"],
    ]);
    expect(treeOf(spans, names)).toBe(
      [
        // A page is no caller with a key: its trace is linked to, and takes nothing in.
        "POST /v1/widget/messages -> the caller",
        "  invoke_agent (taken over) -> the segment that was killed",
        "    chat scripted",
        "    execute_tool add_to_cart",
        "POST /v1/widget/tool-results",
        "  invoke_agent -> taken over",
        "    chat scripted",
        "[the segment that was killed]",
        "  chat scripted",
        "  execute_tool look_up",
      ].join("\n"),
    );
    expect(spans.filter(({ traceId }) => traceId === CALLER.traceId)).toEqual([]);
    const traceId = taken?.traceId;
    expect(spans.filter((span) => span.traceId === traceId)).toHaveLength(6);
    expect(taken?.links).toEqual([{ traceId, spanId: lost }]);
    expect(last?.links).toEqual([{ traceId, spanId: taken?.spanId }]);

    // Every span of the run tells the same conversation, and both processes told of it.
    const conversations = new Set(
      spans.map(({ attributes }) => attributes["gen_ai.conversation.id"]).filter((id) => id !== undefined),
    );
    expect(conversations.size).toBe(1);
    expect(new Set(spans.map(({ resource }) => resource["service.instance.id"])).size).toBe(2);
    expect(new Set(spans.map(({ resource }) => resource["service.name"]))).toEqual(
      new Set(["chat-agent-service"]),
    );

    // The call that was killed never came back: the others went out with the ids of their spans.
    const chats = spans.filter(({ name }) => name === "chat scripted").map(traceparentOf);
    const sent = model.requests.map(({ headers }) => headers["traceparent"]);
    expect(sent).toEqual([chats[0], expect.stringContaining(traceId ?? "-"), chats[1], chats[2]]);
    const [lookUp] = spans.filter(({ name }) => name === "execute_tool look_up");
    expect(mcp.traceparents).toEqual([lookUp && traceparentOf(lookUp)]);

    expect(toldOf(taken)).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "shop",
      "gen_ai.provider.name": "openai",
      "gen_ai.response.model": "scripted",
      "gen_ai.response.finish_reasons": ["tool_calls"],
      "gen_ai.usage.input_tokens": 200,
      "gen_ai.usage.output_tokens": 20,
      "chat_agent.segment.end": "page",
    });
    expect(toldOf(last)).toMatchObject({
      "gen_ai.usage.input_tokens": 300,
      "gen_ai.response.finish_reasons": ["stop"],
      "chat_agent.segment.end": "done",
    });
    const byName = new Map(spans.map((span) => [span.name, span]));
    expect(byName.get("execute_tool add_to_cart")?.attributes).toMatchObject({
      "gen_ai.tool.name": "add_to_cart",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": asked.callId,
    });
    expect(byName.get("execute_tool look_up")?.attributes["gen_ai.tool.type"]).toBe("extension");
    expect(spans.filter(({ isError }) => isError)).toEqual([]);
    expect(receiver.bytes()).not.toContain(CANARY);

    // What the log says of the run belongs to the same traces.
    const taking = second.output.stdout.find((line) => line.includes("took up a run"));
    expect(JSON.parse(taking ?? "{}")).toMatchObject({ trace_id: traceId, span_id: taken?.spanId });
    const line = first.output.stdout.find((text) => text.includes('"/v1/widget/messages"')) ?? "{}";
    const request = byName.get("POST /v1/widget/messages");
    expect(JSON.parse(line)).toMatchObject({ trace_id: traceId, span_id: request?.spanId });
  },
);

/** Spans of what a visitor does before the message. */
const SETTING_UP: ReadonlySet<string> = new Set([
  "/v1/widget/visitors",
  "/v1/widget/threads",
  "/v1/widget/tools",
  "/v1/widget/threads/:id/stream",
]);

function channelWith(url: string): object {
  return {
    slug: "shop",
    kind: "web",
    publishableKey: PUBLISHABLE_KEY,
    allowedOrigins: [ORIGIN],
    agent: { mcpServers: { warehouse: { url } } },
  };
}

interface Visitor {
  headers: Record<string, string>;
  threadId: string;
}

async function enter(url: string): Promise<Visitor> {
  const entered = await ask(url, "/v1/widget/visitors", {
    headers: { origin: ORIGIN, "x-publishable-key": PUBLISHABLE_KEY },
  });
  const { visitorToken } = objectOf<{ visitorToken: string }>(entered);
  const headers = { origin: ORIGIN, "x-visitor-token": visitorToken };
  const { threadId } = objectOf<{ threadId: string }>(await ask(url, "/v1/widget/threads", { headers }));
  const webmcpTools = [{ name: "add_to_cart", description: CANARY }];
  await ask(url, "/v1/widget/tools", { headers, body: { threadId, webmcpTools } });
  return { headers, threadId };
}

/** The page's call that the run that was taken over ends its stream with. */
async function attached(
  url: string,
  { headers, threadId }: Visitor,
): Promise<{ callId: string; tool: string }> {
  const stream = await ask(url, `/v1/widget/threads/${threadId}/stream`, { method: "GET", headers });
  const end = terminalOf(stream);
  if (end.type !== "tool_call") throw new Error(`Cannot go on: the run ended with ${JSON.stringify(end)}`);
  return { callId: end.callId, tool: end.tool };
}

function namesOf(spans: readonly ReceivedSpan[]): string[] {
  return spans.map(({ name }) => name);
}

function traceparentOf({ traceId, spanId }: ReceivedSpan): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Without what is new in each run. */
function toldOf(span: ReceivedSpan | undefined): object {
  const { "gen_ai.conversation.id": _, "chat_agent.run.id": __, ...told } = span?.attributes ?? {};
  return told;
}
