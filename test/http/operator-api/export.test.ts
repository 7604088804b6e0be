// For src/http/operator-api/export.ts, src/operators/export-user.ts
import { expect, test } from "vitest";
import type { Message } from "../../../src/domain/threads/message.ts";
import type { Store } from "../../../src/store.ts";
import { sampleCommit, sampleMessage, sampleRun } from "../../stores/samples.ts";
import { startOperated } from "./operators-service.ts";

const slug = "shop";
const EXPORT = "/channels/shop/users/kim/export";

/** An account with a thread of so many messages, a question and its reply for each run. */
async function prepared(count: number, reply: Partial<Message> = {}) {
  const service = await startOperated();
  const { store } = service;
  await addThread(store, "order-1", "uid-1", 1);
  const fence = `${store.processId}:a`;
  let lastOp: string | null = null;
  for (let nth = 1; nth < count; nth += 2) {
    const runId = `run-${nth}`;
    const messages = [
      sampleMessage(nth, { runId, content: `question ${nth}` }),
      sampleMessage(nth + 1, { runId, role: "assistant", content: `answer ${nth}`, ...reply }),
    ];
    const run = sampleRun(runId, { outcome: "done", terminal: { type: "done", elapsedMs: 3 } });
    const at = { uid: "uid-1", slug, fence, rev: (nth - 1) / 2, readOp: lastOp, state: "idle" as const };
    lastOp = `op-${nth}`;
    await store.commit(sampleCommit({ opId: lastOp, ...at, holds: false, run, messages }));
  }
  return service;
}

async function addThread(store: Store, name: string, uid: string, atMs: number): Promise<void> {
  const caller = { slug, externalId: "kim", displayName: "Kim", newUserId: "u-kim", creates: true };
  await store.admitUser({ ...caller, attributes: { plan: "pro" }, thread: { name, newUid: uid }, atMs });
}

test("tells the user, and each thread with all its messages and runs, in order; and it is in the audit", async () => {
  const steps = [{ id: "s", phase: "done" as const, text: "Looked it up" }];
  const { as, store } = await prepared(250, { steps, author: { type: "person", name: "Ann" } });
  await addThread(store, "empty", "uid-2", 2);
  const got = await as("admin", "GET", EXPORT);
  expect(got.status).toBe(200);
  expect(got.headers["content-type"]).toBe("application/x-ndjson");
  const lines = await got.lines();
  expect(lines[0]).toEqual({
    type: "user",
    userId: "u-kim",
    externalUserId: "kim",
    displayName: "Kim",
    blocked: false,
    whitelisted: false,
    attributes: { plan: "pro" },
  });
  expect(lines[1]).toEqual({ type: "thread", id: "uid-1", threadId: "order-1", createdAt: 1, state: "idle" });
  const messages = lines.filter(({ type }) => type === "message");
  expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, nth) => String(nth + 1)));
  expect(messages[0]).toMatchObject({ thread: "uid-1", role: "user", content: "question 1" });
  expect(messages[1]).toMatchObject({
    role: "assistant",
    content: "answer 1",
    steps,
    author: { name: "Ann" },
  });
  const runs = lines.filter(({ type }) => type === "run");
  expect(runs.map(({ id }) => id)).toEqual(Array.from({ length: 125 }, (_, nth) => `run-${2 * nth + 1}`));
  expect(runs[0]).toMatchObject({ thread: "uid-1", outcome: "done", terminal: { type: "done" } });
  expect(lines.map(({ type }) => type).join(" ")).toMatch(/^user thread( message){250}( run){125} thread$/);
  const audit = (await store.audit({ limit: 9, after: null, sinceMs: 0 })).items.map(({ entry }) => entry);
  expect(audit).toMatchObject([{ operator: "admin", action: "users.export", target: "u-kim", slug }]);
});

test("is of nobody who is not there, and only for administrators", async () => {
  const { as } = await prepared(2);
  expect((await as("admin", "GET", "/channels/shop/users/nobody/export")).status).toBe(404);
  expect((await as("admin", "GET", "/channels/nowhere/users/kim/export")).status).toBe(404);
  expect((await as("agent", "GET", EXPORT)).status).toBe(403);
  expect((await as("admin", "DELETE", "/channels/shop/users/kim")).status).toBe(202);
  expect((await as("admin", "GET", EXPORT)).status).toBe(404);
});

test("tells one thread in the same way, as one reading in the audit, and no other channel's", async () => {
  const { as, store } = await prepared(4);
  const got = await as("agent", "GET", "/channels/shop/threads/uid-1/export");
  expect(got.status).toBe(200);
  const lines = await got.lines();
  expect(lines.map(({ type }) => type).join(" ")).toBe("thread message message message message run run");
  expect(lines[0]).toEqual({ type: "thread", id: "uid-1", threadId: "order-1", createdAt: 1, state: "idle" });
  const { items } = await store.audit({ limit: 9, after: null, sinceMs: 0 });
  expect(items.map(({ entry }) => [entry.operator, entry.action, entry.target])).toEqual([
    ["agent", "thread.read", "uid-1"],
  ]);
  expect((await as("admin", "GET", "/channels/other/threads/uid-1/export")).status).toBe(404);
});
