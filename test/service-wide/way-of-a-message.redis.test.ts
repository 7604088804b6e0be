// For src/threads/, src/stores/
import { tracingChannel } from "node:diagnostics_channel";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { SendBuffer } from "../../src/listeners/send-buffer.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { say } from "../support/servers/model-server.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { openTestService, TEST_KEY } from "../support/servers/service.ts";

/*
 * What a message passes, function by function, in a service without encryption, webhooks and traces. Each of these is paid for
 * by every message, so a new one needs a reason, and one that only passes its arguments on has none.
 */

/** From "commit this" to the socket. */
const COMMIT = [
  "stores/steps/threads/commit commitThread",
  "stores/steps/threads/commit apply",
  "stores/engines/redis/engine apply",
  "stores/engines/redis/calls send",
  "stores/engines/redis/single send",
  "stores/engines/redis/server exchange",
];

/** From what the model's server has sent to the bytes of its reader. */
const TEXT = [
  "models/reply/read-turn #pass",
  "threads/hold/work wrote",
  "threads/hold/work tell",
  "threads/hold/mailbox post",
  "threads/hold/mailbox drain",
  "threads/hold/mailbox begin",
  "threads/hold/work …",
  "threads/hold/held-thread handle",
  "threads/hold/held-thread #handle",
  "threads/hold/held-thread #passOn",
  "threads/hold/run-log say",
  "threads/hold/reply say",
  "http/stream/stream-answer …",
  "listeners/node/stream write",
];

test("a commit passes six functions on its way to the socket, and a piece of text has no wrapper on its way", async () => {
  const { commits, texts } = await waysOf({});
  expect(commits).toEqual([COMMIT, COMMIT]);
  expect(COMMIT.length).toBeLessThanOrEqual(6);
  expect(texts).toEqual([TEXT]);
});

describe("with metrics", () => {
  test("a commit is timed, once, and nothing stands on the way of a piece of text", async () => {
    const metrics = await createMetrics();
    const { commits, texts } = await waysOf(metrics);
    const timed = ["metrics/timed-methods …", ...COMMIT];
    expect(commits).toEqual([timed, timed]);
    expect(texts).toEqual([TEXT]);
  });
});

interface Ways {
  /** Of the commit that claims the thread, and of the one that ends the run. */
  commits: string[][];
  texts: string[][];
}

async function waysOf({
  onCommand,
  timeStore = (store) => store,
  timeModel = (model) => model,
}: Partial<Awaited<ReturnType<typeof createMetrics>>>): Promise<Ways> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const place = { urls: [redis.url], durability: "local" as const, clock: systemClock };
  const timed = onCommand ? { onCommand } : {};
  const store = timeStore(await openRedisStore({ ...place, log: { warn() {} }, ...timed }));
  onTestFinished(() => store.close());
  const { model } = await openScriptedModel([[say("Hello")], [say("Hello")]]);
  const service = await openTestService({ store, model: timeModel(model), env: { LISTENER: "node" } });
  onTestFinished(() => service.close());
  // What a thread's first message reads and writes more than any later one is no part of this.
  await sendPlainly(service.url);
  const ways: Ways = { commits: [], texts: [] };
  noteWays(ways);
  await sendPlainly(service.url);
  return ways;
}

async function sendPlainly(url: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${TEST_KEY}`,
    "content-type": "application/json",
    "accept-encoding": "identity",
  };
  const body = JSON.stringify({ threadId: "t", userId: "u", text: "Hi" });
  const answer = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
  expect(await answer.text()).toContain('"done"');
}

/** Until the test is over. */
function noteWays({ commits, texts }: Ways): void {
  const { start } = tracingChannel("node-redis:command");
  const noteCommand = () => {
    const way = wayHere();
    // Beside it, others write the orders of threads.
    if (way.includes("stores/steps/threads/commit apply"))
      commits.push(way.slice(lastOf(way, "threads/") + 1));
  };
  start.subscribe(noteCommand);
  const write: (this: SendBuffer, chunk: string | Uint8Array) => void = Reflect.get(
    SendBuffer.prototype,
    "write",
  );
  const writing = vi.spyOn(SendBuffer.prototype, "write").mockImplementation(function (
    this: SendBuffer,
    chunk,
  ) {
    const way = wayHere();
    if (typeof chunk === "string" && chunk.includes('"delta"'))
      texts.push(way.slice(way.indexOf(TEXT[0] ?? "")));
    write.call(this, chunk);
  });
  onTestFinished(() => {
    start.unsubscribe(noteCommand);
    writing.mockRestore();
  });
}

function lastOf(way: readonly string[], folder: string): number {
  return way.findLastIndex((name) => name.startsWith(folder));
}

/** Our functions on the stack, the innermost last, each behind its file; `…` has no name. */
function wayHere(): string[] {
  const prepareStackTrace: unknown = Reflect.get(Error, "prepareStackTrace");
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = new Error().stack as unknown as NodeJS.CallSite[];
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  const names = sites.flatMap((site) => {
    const file = /\/src\/(.+)\.ts$/.exec(site.getFileName() ?? "")?.[1];
    return file === undefined ? [] : [`${file} ${site.getFunctionName() ?? "…"}`];
  });
  return names.toReversed();
}
