// For src/operators/threads/threads.ts, src/operators/threads/channel-threads.ts, src/operators/search-users.ts
import { expect, test } from "vitest";
import { sampleCommit, sampleMessage } from "../../stores/samples.ts";
import { startOperated } from "./operators-service.ts";

const T0 = 1_800_000_000_000;

interface Listed {
  items: { id: string }[];
  next: string | null;
}

/** Kim has an empty thread, one with two messages, and one that waits for the page; a guest has one. */
async function withThreads() {
  const service = await startOperated();
  const { store, as } = service;
  const base = { slug: "shop", displayName: null, creates: true };
  for (const [nth, name] of ["empty", "said", "waits"].entries()) {
    const caller = { ...base, externalId: "kim", newUserId: "u-kim", atMs: T0 + nth };
    await store.admitUser({ ...caller, thread: { name, newUid: `t-${name}` } });
  }
  const guest = { ...base, externalId: "lee", newUserId: "u-lee", atMs: T0 + 10 };
  await store.admitUser({ ...guest, thread: { name: "said", newUid: "t-guest" } });
  const said = { slug: "shop", fence: "p:1", opId: "o", holds: false } as const;
  const messages = [1, 2].map((nth) => sampleMessage(nth, { createdAtMs: T0 + 100, content: "a secret" }));
  await store.commit(sampleCommit({ ...said, uid: "t-said", state: "idle", messages }));
  const asked = [sampleMessage(1, { createdAtMs: T0 + 50 })];
  await store.commit(
    sampleCommit({ ...said, uid: "t-waits", state: "awaiting", deadlineMs: T0 * 2, messages: asked }),
  );
  const list = async (query: string, name = "agent") => {
    const got = await as(name, "GET", `/channels/shop/threads${query}`);
    expect(got.status).toBe(200);
    return (await got.json()) as Listed;
  };
  const ids = async (query: string) => (await list(query)).items.map(({ id }) => id);
  return { ...service, list, ids };
}

test("a channel's threads come by activity, page by page, and carry no text for the auditor", async () => {
  const { list } = await withThreads();
  const first = await list("?limit=3");
  const second = await list(`?limit=3&cursor=${String(first.next)}`);
  expect([...first.items, ...second.items]).toEqual([
    {
      id: "t-said",
      threadId: "said",
      userId: "u-kim",
      state: "idle",
      createdAt: T0 + 1,
      updatedAt: T0 + 100,
      epoch: 0,
      title: "a secret",
      preview: "a secret",
      page: "/cart?x=1",
      labels: [],
    },
    expect.objectContaining({ id: "t-waits", state: "awaiting", updatedAt: T0 + 50 }),
    expect.objectContaining({ id: "t-guest", userId: "u-lee", updatedAt: T0 + 10 }),
    expect.objectContaining({ id: "t-empty", createdAt: T0, updatedAt: T0 }),
  ]);
  expect(second.next).toBeNull();
  expect(JSON.stringify(await list("", "auditor"))).not.toContain("secret");
});

test("a list is narrowed to a state, a user by either id, and a span of time with its ends", async () => {
  const { ids } = await withThreads();
  expect(await ids("?state=awaiting")).toEqual(["t-waits"]);
  expect(await ids("?state=with_person")).toEqual([]);
  expect(await ids("?userId=kim")).toEqual(["t-said", "t-waits", "t-empty"]);
  expect(await ids("?userId=u-lee&state=idle")).toEqual(["t-guest"]);
  expect(await ids(`?since=${T0 + 10}&until=${T0 + 50}`)).toEqual(["t-waits", "t-guest"]);
  expect(await ids(`?userId=kim&since=${T0 + 50}`)).toEqual(["t-said", "t-waits"]);
  expect(await ids(`?userId=kim&until=${T0}`)).toEqual(["t-empty"]);
});

test("a user's list goes on where its page ended", async () => {
  const { list } = await withThreads();
  const first = await list("?userId=kim&limit=2");
  const second = await list(`?userId=kim&limit=2&cursor=${String(first.next)}`);
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(["t-said", "t-waits", "t-empty"]);
  expect(second.next).toBeNull();
});

test("one thread tells how many messages it has", async () => {
  const { as } = await withThreads();
  const show = async (id: string) => (await as("auditor", "GET", `/channels/shop/threads/${id}`)).json();
  expect(await show("t-said")).toEqual({
    id: "t-said",
    threadId: "said",
    userId: "u-kim",
    state: "idle",
    createdAt: T0 + 1,
    updatedAt: T0 + 100,
    epoch: 0,
    messages: 2,
  });
  expect(await show("t-empty")).toMatchObject({ id: "t-empty", state: "idle", messages: 0 });
});

test.each([
  ["agent", "/channels/nowhere/threads", 404],
  ["agent", "/channels/other/threads/t-said", 404],
  ["agent", "/channels/shop/threads/unknown", 404],
  ["agent", "/channels/shop/threads?userId=nobody", 404],
  ["shop-agent", "/channels/other/threads", 403],
  ["agent", "/channels/shop/threads?state=asleep", 422],
  ["agent", "/channels/shop/threads?limit=101", 422],
  ["agent", "/channels/shop/threads?since=yesterday", 422],
  ["agent", "/channels/shop/threads?cursor=x", 422],
])("%s asks %s: %i", async (name, path, status) => {
  const { as } = await withThreads();
  expect((await as(name, "GET", path)).status).toBe(status);
});

test("an empty thread's history and runs are empty", async () => {
  const { as } = await withThreads();
  for (const end of ["messages", "runs"]) {
    const got = await as("agent", "GET", `/channels/shop/threads/t-empty/${end}`);
    expect([got.status, ((await got.json()) as Listed).items]).toEqual([200, []]);
  }
});
