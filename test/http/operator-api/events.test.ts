// For src/http/operator-api/events.ts, src/operators/threads/read-along.ts
import { expect, test } from "vitest";
import type { Got } from "../service.ts";
import { TRANSPORT_KEY } from "../service.ts";
import { startOperated } from "./operators-service.ts";
import type { OperatedService } from "./operators-service.ts";

const WITHIN = { timeout: 20_000, interval: 10 };

async function opened() {
  const service = await startOperated();
  const say = async (channel: string, threadId: string) => {
    const got = await service.post(
      "/v1/messages",
      { threadId, userId: "kim", channel, text: "a secret" },
      { headers: { authorization: `Bearer ${TRANSPORT_KEY}` } },
    );
    expect(got.status).toBe(200);
    return got;
  };
  /** Says something, and ends its run once its start is told. */
  const answer = async (reply: Got) => {
    const turn = await service.agent.turn();
    turn.write("a word");
    turn.finish();
    await reply.text();
  };
  return { ...service, say, answer };
}

async function follow({ as }: OperatedService, name: string, after?: string): Promise<Got> {
  const got = await as(name, "GET", `/events${after === undefined ? "" : `?after=${after}`}`);
  expect([got.status, got.headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
  return got;
}

const threadsIn = (got: Got) => got.soFar().filter(({ type }) => type === "thread");
const told = (got: Got) =>
  threadsIn(got).map(
    ({ channel, threadId, state }) => `${String(channel)} ${String(threadId)} ${String(state)}`,
  );

test("each change of a state is told, as the list shows the thread, with its first and last line", async () => {
  const service = await opened();
  const feed = await follow(service, "agent");
  expect(feed.soFar()).toEqual([{ type: "ping", cursor: expect.any(String) as unknown }]);
  const reply = await service.say("shop", "order");
  await expect.poll(() => told(feed), WITHIN).toEqual(["shop order running"]);
  await service.answer(reply);
  await expect.poll(() => told(feed), WITHIN).toEqual(["shop order running", "shop order idle"]);
  const { items } = (await (await service.as("agent", "GET", "/channels/shop/threads")).json()) as {
    items: object[];
  };
  expect(threadsIn(feed)).toMatchObject([{ cursor: expect.any(String) as unknown }, items[0]]);
  expect(feed.soFar().at(-1)).toMatchObject({ title: "a secret", preview: "a word", labels: [] });
  feed.leave();
});

test("a feed goes on behind its cursor, and without one tells only what is new", async () => {
  const service = await opened();
  const first = await follow(service, "agent");
  await service.answer(await service.say("shop", "one"));
  await expect.poll(() => told(first).at(-1), WITHIN).toBe("shop one idle");
  const cursor = String(threadsIn(first).at(-1)?.["cursor"]);
  first.leave();
  await service.answer(await service.say("shop", "two"));
  const fresh = await follow(service, "agent");
  const again = await follow(service, "agent", cursor);
  await expect.poll(() => told(again).at(-1), WITHIN).toBe("shop two idle");
  expect(told(again)).not.toContain("shop one idle");
  expect(told(fresh).filter((line) => line.startsWith("shop one"))).toEqual([]);
  again.leave();
  fresh.leave();
});

test("a cursor that is none, or of long ago, is told to read the lists", async () => {
  const service = await opened();
  const ancient = Buffer.from("p0 5 1000").toString("base64url");
  for (const cursor of ["nonsense", ancient]) {
    const feed = await follow(service, "agent", cursor);
    expect(feed.soFar()).toMatchObject([{ type: "reset", cursor: expect.any(String) as unknown }]);
    feed.leave();
  }
});

test("a cursor of another process is gone on from by the store's order", async () => {
  const service = await opened();
  await service.answer(await service.say("shop", "missed"));
  const elsewhere = Buffer.from(`another 7 ${service.clock.nowMs - 10_000}`).toString("base64url");
  const feed = await follow(service, "agent", elsewhere);
  expect(told(feed)).toEqual(["shop missed idle"]);
  feed.leave();
});

test("who is limited to channels is told of theirs", async () => {
  const service = await opened();
  const [all, limited] = [await follow(service, "agent"), await follow(service, "shop-agent")];
  await service.answer(await service.say("other", "theirs"));
  await service.answer(await service.say("shop", "ours"));
  await expect.poll(() => told(all).at(-1), WITHIN).toBe("shop ours idle");
  await expect.poll(() => told(limited).at(-1), WITHIN).toBe("shop ours idle");
  expect(told(all)).toContain("other theirs idle");
  expect(told(limited).filter((line) => line.startsWith("other"))).toEqual([]);
  all.leave();
  limited.leave();
});

test("a feed ends when its operator is removed, and when the service stops", async () => {
  const service = await opened();
  const [removed, stays] = [await follow(service, "agent"), await follow(service, "admin")];
  expect((await service.as("admin", "DELETE", "/operators/agent")).status).toBe(204);
  await expect.poll(() => removed.isEnded(), WITHIN).toBe(true);
  expect(stays.isEnded()).toBe(false);
  await service.drain();
  await expect.poll(() => stays.isEnded(), WITHIN).toBe(true);
});

test("G3: of 100 for an operator that are opened at once, five stay open", async () => {
  const { as } = await startOperated();
  const feeds = await Promise.all(Array.from({ length: 100 }, () => as("agent", "GET", "/events")));
  expect(feeds.filter((feed) => feed.isEnded())).toHaveLength(95);
  for (const feed of feeds) feed.leave();
});

test("of six for an operator the oldest ends", async () => {
  const service = await opened();
  const feeds: Got[] = [];
  for (let nth = 0; nth < 6; nth++) feeds.push(await follow(service, "agent"));
  const other = await follow(service, "admin");
  expect([...feeds, other].map((feed) => feed.isEnded())).toEqual([true, ...Array(6).fill(false)]);
  for (const feed of [...feeds, other]) feed.leave();
});
