// For src/http/operator-api/watch.ts, src/operators/threads/watch-thread.ts
import { expect, onTestFinished, test, vi } from "vitest";
import { hashKey } from "../../../src/keys.ts";
import { Secret } from "../../../src/secret.ts";
import { shop } from "../service.ts";
import { startOperated } from "./operators-service.ts";

const WITHIN = { timeout: 20_000, interval: 10 };

/** A visitor of `shop` who has written once, and got an answer. */
async function withTalk() {
  const service = await startOperated();
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const say = (text: string) =>
    service.post(
      "/v1/widget/messages",
      { threadId, text, page: "/cart?step=1" },
      { headers: { "x-visitor-token": token } },
    );
  const first = await say("Hello");
  expect(first.status).toBe(200);
  const turn = await service.agent.turn();
  turn.write("Good day");
  turn.finish();
  await first.text();
  const { items } = (await (await service.as("admin", "GET", "/channels/shop/users")).json()) as {
    items: { userId: string }[];
  };
  const [thread] = await service.store.threads("shop", items[0]?.userId ?? "");
  const uid = thread?.uid ?? "";
  const audit = async () =>
    (await service.store.audit({ limit: 100, after: null, sinceMs: 0 })).items.map(({ entry }) => entry);
  return { ...service, say, audit, uid, path: `/channels/shop/threads/${uid}/watch` };
}

test("a watch tells each message once, the reply while it is written, and the chart", async () => {
  const { as, say, agent, path, uid, audit } = await withTalk();
  const watch = await as("agent", "GET", `${path}?after=1`);
  expect(watch.status).toBe(200);
  const lines = () => watch.soFar();
  const messages = () =>
    lines().flatMap(({ type, item }) => (type === "message" ? [(item as { content: string }).content] : []));
  const said = () =>
    lines().flatMap(({ type, lines }) =>
      type === "said" ? (lines as { type: string; text?: string }[]).map(({ text = "" }) => text) : [],
    );
  const states = () =>
    lines().flatMap(({ type, thread }) => (type === "thread" ? [(thread as { state: string }).state] : []));
  await expect.poll(messages, WITHIN).toEqual(["Good day"]);
  await expect.poll(states, WITHIN).toContain("idle");

  const reply = await say("And now?");
  const turn = await agent.turn();
  turn.write("Let me see");
  await expect.poll(() => said().join(""), WITHIN).toContain("Let me see");
  await expect.poll(states, WITHIN).toContain("running.thinking");
  const visitors = lines().flatMap(({ type, thread }) =>
    type === "thread" ? [(thread as { visitor: { page: string } }).visitor.page] : [],
  );
  expect(visitors.at(-1)).toBe("/cart?step=1");
  turn.finish();
  await reply.text();
  await expect.poll(messages, WITHIN).toEqual(["Good day", "And now?", "Let me see"]);
  await expect.poll(() => states().at(-1), WITHIN).toBe("idle");
  expect(await audit()).toEqual([
    expect.objectContaining({ operator: "agent", action: "thread.read", target: uid }),
  ]);
  watch.leave();
});

test("the chart moves with the feed, and not when the thread is looked at a second later", async () => {
  const { as, path, uid, store, renew } = await withTalk();
  await store.putChannel({ ...shop, handoff: { enabled: true } });
  await renew();
  // No time passes but what the test lets pass; expect.poll lets it pass, too.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const watch = await as("agent", "GET", path);
  const states = (type: string) =>
    watch.soFar().flatMap((line) => {
      if (line.type !== type) return [];
      return [((line["thread"] ?? line) as { state: string }).state];
    });
  const told = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };
  await told(() => watch.soFar().some(({ type }) => type === "said"));
  // The look that the end of the run brings is over.
  await vi.advanceTimersByTimeAsync(100);
  const take = `/channels/shop/threads/${uid}/take`;
  expect((await as("agent", "POST", take, { epoch: 0 })).status).toBe(200);
  await told(() => states("state").includes("with_person"));
  await vi.advanceTimersByTimeAsync(100);
  await told(() => states("thread").length > 1);
  expect(states("thread")).toEqual(["idle", "with_person"]);
  watch.leave();
});

test("a watch ends when its operator's key does, and with the service", async () => {
  const { as, path, store, renew, drain } = await withTalk();
  const mine = await as("agent", "GET", path);
  const others = await as("admin", "GET", path);
  const agent = (await store.operators()).find(({ name }) => name === "agent");
  if (!agent) throw new Error("there is no agent");
  await store.replaceOperator({ ...agent, keyHash: hashKey(new Secret("op_another")) }, agent);
  await renew();
  await expect.poll(() => mine.isEnded(), WITHIN).toBe(true);
  expect(others.isEnded()).toBe(false);
  await drain();
  await expect.poll(() => others.isEnded(), WITHIN).toBe(true);
});

test("G3: of 60 watches of an operator that are opened at once, 20 stay open, and all of another's", async () => {
  const { as, path } = await withTalk();
  const others = await as("admin", "GET", path);
  const watches = await Promise.all(Array.from({ length: 60 }, () => as("agent", "GET", path)));
  const open = () => watches.filter((watch) => !watch.isEnded());
  expect(open()).toHaveLength(20);
  expect(others.isEnded()).toBe(false);
  for (const watch of open().slice(0, 5)) watch.leave();
  await as("agent", "GET", path);
  expect(open()).toHaveLength(20);
});

test("an auditor watches nothing, and nobody another channel's thread", async () => {
  const { as, path, uid, audit } = await withTalk();
  expect((await as("auditor", "GET", path)).status).toBe(403);
  expect((await as("admin", "GET", `/channels/other/threads/${uid}/watch`)).status).toBe(404);
  expect(await audit()).toEqual([]);
});
