// For src/operators/threads/desk.ts, src/operators/threads/headline.ts, src/http/operator-api/desk.ts, src/domain/threads/desk.ts
import { expect, test } from "vitest";
import { startOperated } from "./operators-service.ts";

async function open() {
  const service = await startOperated();
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const headers = { "x-visitor-token": token };
  const path = `/channels/shop/threads/${threadId}`;
  return {
    ...service,
    threadId,
    path,
    say: (text: string) => service.post("/v1/widget/messages", { threadId, text }, { headers }),
    exchange: async (text: string, answer: string) => {
      const at = { threadId, text, page: "/pages/mugs?size=2" };
      const reply = await service.post("/v1/widget/messages", at, { headers });
      const turn = await service.agent.turn();
      turn.write(answer);
      turn.finish();
      await reply.lines();
    },
    read: async (name: string, of = path) => {
      const got = await service.as(name, "GET", of);
      expect(got.status).toBe(200);
      return (await got.json()) as Record<string, unknown> & { items: Record<string, unknown>[] };
    },
    do: async (method: string, act: string, body: unknown, name = "agent") =>
      (await service.as(name, method, `${path}/${act}`, body)).status,
  };
}

test("a list shows people: who, where, the first line and the last one; the auditor's list shows none of it", async () => {
  const { exchange, read } = await open();
  await exchange(
    "\n  Where is my parcel?\nIt was sent on Monday.",
    `${"It is on its way 📦 ".repeat(9)}\nBye`,
  );
  const said = {
    title: "Where is my parcel?",
    page: "/pages/mugs?size=2",
    labels: [],
  };
  const [listed] = (await read("agent", "/channels/shop/threads")).items;
  expect(listed).toMatchObject(said);
  const preview = String(listed?.["preview"]);
  expect(preview).toMatch(/^It is on its way 📦 .*…$/u);
  expect(preview.length).toBeLessThanOrEqual(120);
  expect(preview.isWellFormed()).toBe(true);
  expect(await read("agent")).toMatchObject(said);
  const [hidden] = (await read("auditor", "/channels/shop/threads")).items;
  for (const shown of [hidden, await read("auditor")])
    for (const field of ["title", "preview", "page", "labels", "displayName"])
      expect(shown).not.toHaveProperty(field);
});

test("a user's name is that of the user, who may be renamed", async () => {
  const { exchange, read, as } = await open();
  await exchange("Hello", "Hi");
  const userId = String((await read("agent"))["userId"]);
  expect((await as("agent", "PATCH", `/channels/shop/users/${userId}`, { displayName: "Ada" })).status).toBe(
    200,
  );
  expect(await read("agent")).toMatchObject({ displayName: "Ada" });
});

test("notes are for operators: in order, in the export, in the audit without their text, and for no visitor", async () => {
  const { exchange, as, path, do: act, read } = await open();
  await exchange("Hello", "Hi");
  const first = await as("agent", "POST", `${path}/notes`, { text: " Known for returns " });
  expect([first.status, await first.json()]).toEqual([201, { id: "1" }]);
  const both = ["Ask first", "And be kind"].map((text) => act("POST", "notes", { text }, "shop-agent"));
  expect(await Promise.all(both)).toEqual([201, 201]);
  const { items } = await read("agent", `${path}/notes`);
  expect(items[0]).toEqual({
    id: "1",
    by: "agent",
    text: "Known for returns",
    at: expect.any(Number) as number,
  });
  expect(items.map(({ id, by }) => [id, by])).toEqual([
    ["1", "agent"],
    ["2", "shop-agent"],
    ["3", "shop-agent"],
  ]);
  const exported = await (await as("agent", "GET", `${path}/export`)).text();
  expect(exported).toContain('"type":"desk"');
  expect(exported).toContain("Known for returns");
  const audit = JSON.stringify(await read("admin", "/audit"));
  expect(audit).toContain("desk.note");
  expect(audit).not.toContain("returns");
  const history = await read("agent", `${path}/messages`);
  expect(JSON.stringify(history)).not.toContain("returns");
  expect(await act("POST", "notes", { text: "  " })).toBe(422);
  expect(await act("POST", "notes", { text: "Hm" }, "auditor")).toBe(403);
  expect((await as("auditor", "GET", `${path}/notes`)).status).toBe(403);
  expect((await as("agent", "GET", `${path}x/notes`)).status).toBe(404);
});

test("labels are set in the place of others; a snoozed thread says until when, and comes back with the next message", async () => {
  const { exchange, read, do: act, clock } = await open();
  await exchange("Hello", "Hi");
  expect(await act("PUT", "labels", { labels: [" refund ", "vip"] })).toBe(204);
  expect(await read("agent")).toMatchObject({ labels: ["refund", "vip"] });
  expect(await act("PUT", "labels", { labels: [] })).toBe(204);
  for (const labels of [
    ["a", "a"],
    [""],
    ["x".repeat(51)],
    Array.from({ length: 21 }, (_, nth) => `l${nth}`),
  ])
    expect(await act("PUT", "labels", { labels })).toBe(422);

  const until = clock.nowMs + 60_000;
  expect(await act("POST", "snooze", { until })).toBe(204);
  expect(await read("agent")).toMatchObject({ labels: [], snoozedUntil: until });
  expect(await act("POST", "snooze", { until: null })).toBe(204);
  expect(await read("agent")).not.toHaveProperty("snoozedUntil");
  expect(await act("POST", "snooze", { until })).toBe(204);
  clock.nowMs += 1_000;
  await exchange("Are you there?", "Yes");
  expect(await read("agent")).not.toHaveProperty("snoozedUntil");
  expect(await act("POST", "snooze", { until: clock.nowMs + 10 })).toBe(204);
  clock.nowMs += 11;
  expect(await read("agent")).not.toHaveProperty("snoozedUntil");
  for (const wrong of [clock.nowMs, clock.nowMs + 400 * 86_400_000, "tomorrow"])
    expect(await act("POST", "snooze", { until: wrong })).toBe(422);
});

test("a thread with no message yet has nothing to keep anything with", async () => {
  const { do: act } = await open();
  expect(await act("PUT", "labels", { labels: ["vip"] })).toBe(404);
});

test("what was said is found by its words, whichever message of a thread has them all", async () => {
  const { exchange, as, read, threadId, newToken, newThread, post, agent, clock } = await open();
  await exchange("My MUG broke.\nI want a refund", "Oh no");
  await exchange("And the plate?", "It is fine");
  clock.nowMs += 1_000;
  const token = await newToken();
  const other = await newThread(token);
  const reply = await post(
    "/v1/widget/messages",
    { threadId: other, text: "Where is the mug?" },
    { headers: { "x-visitor-token": token } },
  );
  (await agent.turn()).finish();
  await reply.lines();
  const found = async (q: string) =>
    (await read("agent", `/channels/shop/threads?q=${encodeURIComponent(q)}`)).items.map((item) => [
      item["id"] === threadId ? "first" : "second",
      item["found"],
    ]);
  expect(await found("mug")).toEqual([
    ["second", "Where is the mug?"],
    ["first", "My MUG broke."],
  ]);
  expect(await found("refund mug")).toEqual([["first", "My MUG broke."]]);
  // Of two messages.
  expect(await found("refund plate")).toEqual([]);
  expect(await found("fine")).toEqual([["first", "It is fine"]]);
  const page = await read("agent", "/channels/shop/threads?q=mug&limit=1");
  expect(page.items).toHaveLength(1);
  const next = await read("agent", `/channels/shop/threads?q=mug&limit=1&cursor=${String(page["next"])}`);
  expect(next.items).toMatchObject([{ id: threadId }]);
  expect((await as("auditor", "GET", "/channels/shop/threads?q=mug")).status).toBe(403);
  expect(JSON.stringify(await read("admin", "/audit"))).not.toContain("mug");
});

test("nothing is searched where what is said is encrypted", async () => {
  const key = Buffer.alloc(32, 7).toString("base64");
  const { as } = await startOperated({ CONTENT_KEYS: `k1:${key}` });
  expect((await as("agent", "GET", "/channels/shop/threads?q=mug")).status).toBe(422);
});

test("a draft is what the assistant would answer to what waits: without tools, told to nobody, stored nowhere", async () => {
  const { exchange, say, as, path, read, store, renew, agent } = await open();
  const shop = await store.channel("shop");
  await store.putChannel({ ...shop!, handoff: { enabled: true } });
  await renew();
  await exchange("Hello", "Hi");
  expect((await as("agent", "POST", `${path}/draft`)).status).toBe(409);
  expect((await as("agent", "POST", `${path}/take`, { epoch: 0 })).status).toBe(200);
  for (const text of ["My mug broke", "Can I have a new one?"]) await (await say(text)).lines();

  const draft = await as("agent", "POST", `${path}/draft`);
  const drafting = await agent.turn();
  const { turn } = drafting;
  expect(turn).toMatchObject({
    text: "My mug broke\n\nCan I have a new one?",
    catalog: [],
    withoutTools: true,
  });
  expect(turn.before.map(({ content }) => content)).toEqual(["Hello", "Hi"]);
  drafting.write("Of course, ");
  drafting.write("we send one.");
  drafting.finish();
  expect(await draft.lines()).toEqual([
    { type: "delta", text: "Of course, " },
    { type: "delta", text: "we send one." },
    { type: "done" },
  ]);
  expect(JSON.stringify(await read("agent", `${path}/messages`))).not.toContain("Of course");

  const failed = await as("agent", "POST", `${path}/draft`);
  (await agent.turn()).fail("The model server is away");
  expect(await failed.lines()).toEqual([{ type: "error", message: "The model server is away" }]);
  const left = await as("agent", "POST", `${path}/draft`);
  const { signal } = await agent.turn();
  left.leave();
  await expect.poll(() => signal.aborted).toBe(true);
});

test("many threads are labelled and snoozed at once, each on its own: what cannot be changed is told, and stays", async () => {
  const { as, exchange, read, threadId } = await open();
  await exchange("Hello", "Hi");
  const bulk = async (body: object) => {
    const got = await as("agent", "POST", "/channels/shop/threads/bulk", body);
    return [got.status, got.status === 200 ? await got.json() : null];
  };
  const unknown = { id: "nobody", message: "Unknown thread" };
  const ids = [threadId, "nobody", threadId];
  const until = Date.now() + 60_000;
  expect(await bulk({ ids, addLabels: ["refund", "vip"], snoozeUntil: until })).toEqual([
    200,
    { failed: [unknown] },
  ]);
  expect(await read("agent")).toMatchObject({ labels: ["refund", "vip"], snoozedUntil: until });
  expect(await bulk({ ids: [threadId], removeLabels: ["vip"], snoozeUntil: null })).toEqual([
    200,
    { failed: [] },
  ]);
  expect((await read("agent"))["labels"]).toEqual(["refund"]);
  expect(await read("agent")).not.toHaveProperty("snoozedUntil");
  const twenty = Array.from({ length: 20 }, (_, nth) => `label ${nth}`);
  expect(await bulk({ ids: [threadId], addLabels: twenty })).toEqual([
    200,
    { failed: [{ id: threadId, message: "A thread has 20 labels at most" }] },
  ]);
  expect((await read("agent"))["labels"]).toEqual(["refund"]);
  for (const wrong of [{ ids: [] }, { ids: ["a"], addLabels: [""] }, { ids: ["a"], snoozeUntil: 1 }])
    expect(await bulk(wrong)).toEqual([422, null]);
});
