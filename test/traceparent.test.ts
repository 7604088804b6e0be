import { expect, test } from "vitest";
import { hold, say } from "./support/model-server.ts";
import { openScriptedModel } from "./support/open-model.ts";
import { TEST_KEY, startTestService } from "./support/service.ts";

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
