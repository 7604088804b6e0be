// For src/http/widget-api/, src/http/server-api/
import { expect, test } from "vitest";
import type { Documentation, Route } from "../../../src/http/route.ts";
import { pageCall } from "../../threads/scripted-agent.ts";
import { ROOMY_LIMITS } from "../../support/servers/service.ts";
import { ORIGIN, shop, startService } from "../service.ts";
import type { Sent, Service } from "../service.ts";

/** Each route that takes a visitor's token, with its method. What names no thread is named here. */
const NAMELESS = new Set([
  "POST /v1/widget/threads",
  "GET /v1/widget/threads",
  "GET /v1/widget/copilotkit/info",
]);

interface NamingRoute {
  route: Route;
  documentation: Documentation;
}

function routesThatNameThreads({ routes }: Service): NamingRoute[] {
  return routes.flatMap((route) => {
    const { documentation } = route;
    if (documentation === "hidden" || documentation.credential !== "visitorToken") return [];
    return NAMELESS.has(`${route.method} ${route.path}`) ? [] : [{ route, documentation }];
  });
}

/** Where the thread's id stands in its path, or in its body. */
function naming({ route, documentation }: NamingRoute, threadId: string): Partial<Sent> {
  const example = documentation.body?.example as Record<string, unknown> | undefined;
  const inBody = ["threadId", "id"].find((name) => example && name in example);
  const inPath = ["threadId", "id"].find((name) => name in documentation.params);
  const values = Object.entries(documentation.params).map(([name, field]): [string, string] => [
    name,
    inBody === undefined && name === inPath ? threadId : String(field.example),
  ]);
  if (inBody === undefined && inPath === undefined)
    throw new Error(`${route.path} names no thread, and is not in NAMELESS`);
  const path = values.reduce((filled, [name, value]) => filled.replace(`:${name}`, value), route.path);
  const body = inBody === undefined ? example : { ...example, [inBody]: threadId };
  return { method: route.method, path, ...(body ? { body: JSON.stringify(body) } : {}) };
}

test("P14: on every route that names one, another visitor's thread is byte for byte no thread, whatever state it is in", async () => {
  const service = await startService(ROOMY_LIMITS);
  const { store, agent, post, ask, newToken, newThread } = service;
  await store.putChannel({ ...shop, handoff: { enabled: true } });
  await service.renew();
  const owner = await newToken();
  const headers = { origin: ORIGIN, "x-visitor-token": owner };
  const [empty, told, pending] = [await newThread(owner), await newThread(owner), await newThread(owner)];
  for (const threadId of [told, pending]) {
    const said = post("/v1/widget/messages", { threadId, text: "Hello" }, { headers });
    const turn = await agent.turn();
    if (threadId === told) turn.finish();
    else turn.call(pageCall("call-1"));
    await (await said).text();
  }

  const stranger = await newToken();
  const named = routesThatNameThreads(service);
  expect(named.length).toBeGreaterThan(15);
  const asks = (one: NamingRoute, token: string, threadId: string) =>
    ask({
      ...naming(one, threadId),
      headers: { origin: ORIGIN, "content-type": "application/json", "x-visitor-token": token },
    });
  const { turns } = agent;
  for (const one of named) {
    const seen = async (threadId: string) => {
      const got = await asks(one, stranger, threadId);
      return [one.route.path, got.status, got.headers, await got.text()];
    };
    const none = await seen("bkQmzpTqyiWfXH2uJ3dVxw");
    expect(none.slice(0, 2)).toEqual([one.route.path, 404]);
    for (const threadId of [empty, told, pending, "malformed"]) expect(await seen(threadId)).toEqual(none);
  }
  const nameless = { threadId: "", text: "x" };
  const asStranger = { headers: { origin: ORIGIN, "x-visitor-token": stranger } };
  expect((await post("/v1/widget/messages", nameless, asStranger)).status).toBe(422);
  // And nothing was done.
  expect(agent.turns).toBe(turns);
  const stream = await ask({ path: `/v1/widget/threads/${pending}/stream`, headers });
  expect((await stream.lines()).at(-1)).toMatchObject({ type: "tool_call", callId: "call-1" });
  const history = await ask({ path: `/v1/widget/threads/${told}/messages`, headers });
  expect(await history.json()).toMatchObject({ items: [{ content: "Hello" }, { role: "assistant" }] });
  // Its owner finds one: each request is good, but that there is no reply yet to be rated, or made anew, and no file.
  const needsReply = /\/(feedback|regenerate|:fileId)$/;
  for (const one of named) {
    const { status } = await asks(one, owner, await newThread(owner));
    expect([one.route.path, status === 404]).toEqual([one.route.path, needsReply.test(one.route.path)]);
  }
  await service.drain();
});
