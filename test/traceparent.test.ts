// For src/traces/contexts.ts, src/trace.ts
import { expect, test } from "vitest";
import { hold, say } from "./support/servers/model-server.ts";
import { openScriptedModel } from "./support/servers/open-model.ts";
import { sampleChannel } from "./stores/samples.ts";
import { TEST_KEY, startTestService } from "./support/servers/service.ts";

const TRACES = ["a", "b"].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);

function send(url: string, text: string, traceparent?: string): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TEST_KEY}`,
      "content-type": "application/json",
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body: JSON.stringify({ threadId: "t1", userId: "ada", text }),
  });
}

test("a caller's traceparent goes to the log and to the model call of its own message, also of one that waited", async () => {
  const { model, server } = await openScriptedModel([[say("One"), hold()], "Two", "Three", "Four"]);
  const service = await startTestService({ model });

  const first = await send(service.url, "first", TRACES[0]);
  await server.requested(1);
  const second = await send(service.url, "second", TRACES[1]);
  const third = await send(service.url, "third");
  server.release();
  await Promise.all([first.text(), second.text(), third.text()]);
  await (await send(service.url, "fourth", "not-a-trace")).text();

  expect(server.requests.map(({ headers }) => headers["traceparent"])).toEqual([
    ...TRACES,
    undefined,
    undefined,
  ]);
  const logged = service.logged.flatMap((line) => {
    const { route, traceparent } = JSON.parse(line) as { route?: string; traceparent?: string };
    return route === "/v1/messages" ? [traceparent] : [];
  });
  // In order of their answers' heads, which is not that of the requests.
  expect(new Set(logged)).toEqual(new Set([...TRACES, undefined]));
  expect(logged).toHaveLength(4);
});

test.each([
  ["a visitor's", {}],
  ["a stranger's", { authorization: "Bearer wrong" }],
])("G21: without traces, %s traceparent reaches no other server", async (_who, authorization) => {
  const { model, server } = await openScriptedModel(["One"]);
  const service = await startTestService({ model, channels: [sampleChannel({ agent: {} })] });
  const post = (path: string, headers: Record<string, string>, body?: object) =>
    fetch(`${service.url}/v1/widget${path}`, {
      method: "POST",
      headers: { origin: "https://shop.example", "content-type": "application/json", ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const visitor = await post("/visitors", { "x-publishable-key": "pk_shop" });
  const { visitorToken } = (await visitor.json()) as { visitorToken: string };
  const token = { "x-visitor-token": visitorToken };
  const { threadId } = (await (await post("/threads", token)).json()) as { threadId: string };
  const sent = { ...token, ...authorization, traceparent: TRACES[0] ?? "" };
  await (await post("/messages", sent, { threadId, text: "Hello" })).text();
  expect(server.requests.map(({ headers }) => headers["traceparent"])).toEqual([undefined]);
  // Still in the log, where it ties this service's lines to a page's.
  expect(service.logged.join("\n")).toContain(TRACES[0]);
});
