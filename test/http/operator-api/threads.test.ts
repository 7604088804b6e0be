// For src/http/operator-api/threads.ts, src/operators/threads/threads.ts
import { expect, test } from "vitest";
import { sampleCommit, sampleMessage, sampleRun } from "../../stores/samples.ts";
import { cli, TRANSPORT_KEY } from "../service.ts";
import { startOperated } from "./operators-service.ts";

async function withThread() {
  const service = await startOperated();
  const messages = [1, 2, 3, 4, 5].map((nth) => sampleMessage(nth, { content: `word ${nth}` }));
  const run = sampleRun("r1", { outcome: "done", terminal: { type: "done", elapsedMs: 3 } });
  const said = { uid: "t-1", slug: "shop", state: "idle", holds: false } as const;
  await service.store.commit(sampleCommit({ opId: "o-1", fence: "p:1", ...said, run, messages }));
  const thread = "/channels/shop/threads/t-1";
  const audit = async () =>
    (await service.store.audit({ limit: 100, after: null, sinceMs: 0 })).items.map(({ entry }) => entry);
  return { ...service, thread, audit };
}

test("history is read page by page, and each reading is in the audit, without a word of it", async () => {
  const { as, thread, audit } = await withThread();
  const met: unknown[] = [];
  let before = "";
  let pages = 0;
  while (before !== "1") {
    const from = before === "" ? "" : `&before=${before}`;
    const got = await as("agent", "GET", `${thread}/messages?limit=2${from}`);
    expect(got.status).toBe(200);
    const { items } = (await got.json()) as { items: { id: string; content: string }[] };
    met.unshift(...items.map(({ content }) => content));
    before = items[0]?.id ?? "1";
    pages += 1;
  }
  expect(met).toEqual(["word 1", "word 2", "word 3", "word 4", "word 5"]);
  expect(await audit()).toEqual(
    Array.from({ length: pages }, () => ({
      atMs: expect.any(Number) as unknown,
      operator: "agent",
      action: "thread.read",
      target: "t-1",
      slug: "shop",
    })),
  );
});

test("runs tell how each went, and their reading is in the audit", async () => {
  const { as, thread, audit } = await withThread();
  const got = await as("shop-admin", "GET", `${thread}/runs`);
  expect(await got.json()).toMatchObject({
    items: [{ id: "r1", outcome: "done", terminal: { type: "done", elapsedMs: 3 } }],
    next: null,
  });
  expect((await audit()).map(({ operator, action, target }) => [operator, action, target])).toEqual([
    ["shop-admin", "thread.read", "t-1"],
  ]);
});

test("an auditor reads nothing, and another channel's thread is 404; neither is in the audit as read", async () => {
  const { as, thread, audit, store } = await withThread();
  await store.commit(
    sampleCommit({ opId: "o-2", fence: "p:1", uid: "t-2", slug: "other", messages: [sampleMessage(1)] }),
  );
  for (const end of ["messages", "runs"]) {
    expect((await as("auditor", "GET", `${thread}/${end}`)).status).toBe(403);
    expect((await as("admin", "GET", `/channels/shop/threads/t-2/${end}`)).status).toBe(404);
    expect((await as("shop-agent", "GET", `/channels/shop/threads/t-2/${end}`)).status).toBe(404);
    expect((await as("admin", "GET", `/channels/shop/threads/nothing/${end}`)).status).toBe(404);
    expect((await as("admin", "GET", `/channels/nowhere/threads/t-1/${end}`)).status).toBe(404);
    expect((await as("admin", "GET", `${thread}/${end}?limit=0`)).status).toBe(422);
  }
  expect(await audit()).toEqual([]);
});

test("where the audit cannot be written nothing is read", async () => {
  const { as, thread, audit, store } = await withThread();
  store.appendAudit = () => Promise.reject(new Error("Cannot write"));
  const got = await as("admin", "GET", `${thread}/messages`);
  expect([got.status, await got.text()]).toEqual([500, ""]);
  expect(await audit()).toEqual([]);
});

test("G23: who reads why a person was asked for is in the audit; who may not, and a thread without it, is not", async () => {
  const { as, ask, store, renew, agent, audit } = await withThread();
  await store.putChannel({ ...cli, handoff: { enabled: true } });
  await renew();
  const headers = { authorization: `Bearer ${TRANSPORT_KEY}`, "content-type": "application/json" };
  const body = JSON.stringify({ threadId: "order-1", userId: "ada", text: "A person, please" });
  const said = await ask({ method: "POST", path: "/v1/messages", headers, body });
  (await agent.turn()).handOff("A broken mug", "Wants her money back");
  await said.text();
  const { items } = (await (await as("agent", "GET", "/channels/cli/threads")).json()) as {
    items: { id: string }[];
  };
  const [{ id } = { id: "" }] = items;
  const shown = async (operator: string) => (await as(operator, "GET", `/channels/cli/threads/${id}`)).json();
  expect(await shown("auditor")).toMatchObject({ handoff: { askedBy: "model" } });
  await as("agent", "GET", "/channels/shop/threads/t-1");
  expect(await audit()).toEqual([]);
  expect(await shown("agent")).toMatchObject({
    handoff: { reason: "A broken mug", summary: "Wants her money back" },
  });
  expect(await audit()).toMatchObject([
    { operator: "agent", action: "thread.read", target: id, slug: "cli" },
  ]);
});
