// For src/traces/
import { expect, onTestFinished, test } from "vitest";
import { answers, createInstance, readerOf, says } from "../threads/instance.ts";
import type { Instance } from "../threads/instance.ts";
import { pageCall } from "../threads/scripted-agent.ts";
import { storeKinds } from "../support/stores/store-kinds.ts";
import type { TestDatabase } from "../support/stores/store-kinds.ts";
import { startReceiver } from "./receiver.ts";
import type { ReceivedSpan } from "./receiver.ts";
import { openTraced } from "./traced.ts";

/** One instance on a store of its own, with traces or without. */
async function openInstance(prepare: () => Promise<TestDatabase>, hasTraces: boolean) {
  const receiver = await startReceiver();
  const traced = hasTraces ? await openTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }) : {};
  const database = await prepare();
  const store = await database.open();
  const here = createInstance(store, traced);
  await here.threads.start();
  onTestFinished(async () => {
    await here.threads.drain(0);
    await store.close();
    await database.remove();
  });
  const storedTrace = async () => (await store.load("t1", 1_000))?.run?.trace;
  return { here, spans: receiver.spans, storedTrace };
}

async function rests({ threads }: Instance): Promise<void> {
  await expect.poll(() => threads.held()).toBe(0);
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);

test.each(storeKinds)(
  "a page's call that a message supersedes is told as such, and its segment ended with it, on $name",
  async ({ prepare }) => {
    const { here, spans, storedTrace } = await openInstance(prepare, true);
    await here.threads.say(says("t1", "Buy"));
    (await here.agent.turn()).call(pageCall("c1"));
    await rests(here);
    const next = readerOf(await here.threads.say(says("t1", "Never mind")));
    (await here.agent.turn()).finish();
    await next.all;

    await expect.poll(() => spans.length).toBe(3);
    const segments = named(spans, "invoke_agent");
    expect(segments.map(({ attributes, links }) => [attributes["chat_agent.segment.end"], links])).toEqual([
      ["page", []],
      ["done", []],
    ]);
    const [call] = named(spans, "execute_tool cart");
    expect(call?.attributes["error.type"]).toBe("superseded");
    expect(call?.parentSpanId).toBe(segments[0]?.spanId);
    expect((await storedTrace())?.segment).toContain(segments[1]?.spanId);
  },
);

test.each(storeKinds)(
  "a page's tool that failed says so, and a run that is cancelled has not, on $name",
  async ({ prepare }) => {
    const { here, spans } = await openInstance(prepare, true);
    await here.threads.say(says("t1", "Buy"));
    (await here.agent.turn()).call(pageCall("c1"));
    await rests(here);
    await here.threads.answer({ ...answers("t1", "c1"), isError: true });
    await here.agent.turn();
    await here.threads.cancel("t1");

    await expect.poll(() => spans.length).toBe(3);
    expect(named(spans, "execute_tool cart")[0]?.attributes["error.type"]).toBe("tool_error");
    const [first, last] = named(spans, "invoke_agent");
    expect(last?.links.map(({ spanId }) => spanId)).toEqual([first?.spanId]);
    expect([last?.attributes["chat_agent.segment.end"], last?.isError]).toEqual(["cancelled", false]);
  },
);

test.each(storeKinds)("without traces nothing of one is stored, on $name", async ({ prepare }) => {
  const { here, spans, storedTrace } = await openInstance(prepare, false);
  const reader = readerOf(await here.threads.say(says("t1", "Hello")));
  (await here.agent.turn()).finish();
  await reader.all;
  expect([await storedTrace(), spans]).toEqual([undefined, []]);
});
