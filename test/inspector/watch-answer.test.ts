import { openKeyDoor } from "../support/key-door.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createReply } from "../../src/actors/reply.ts";
import { systemClock } from "../../src/clock.ts";
import { inspectorRoutes } from "../../src/http/inspector/routes.ts";
import type { HttpRequest, Outlet } from "../../src/listener.ts";
import { Secret } from "../../src/secret.ts";
import type { ThreadRecord } from "../../src/store.ts";
import { createReference } from "../stores/reference.ts";
import { sampleRun } from "../stores/samples.ts";

beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }),
);
afterEach(() => void vi.useRealTimers());

const record: ThreadRecord = {
  uid: "t1",
  slug: "shop",
  rev: 1,
  lastOp: null,
  fence: "A:1",
  state: "running",
  snapshot: null,
  catalog: [],
  catalogId: null,
  run: sampleRun("r1"),
  tail: [],
  messageCount: 0,
  waitingCount: 0,
};

/** A watch of a thread that runs, as a listener holds it open. */
async function openWatch() {
  const seen = { loads: 0, readersLeft: 0, written: 0, ended: 0 };
  const open = new Set<() => void>();
  const routes = inspectorRoutes({
    key: new Secret("ik_test"),
    keyDoor: openKeyDoor(),
    store: {
      ...createReference(systemClock),
      load: () => Promise.resolve((seen.loads++, record)),
    },
    threads: { follow: () => Promise.resolve(createReply("r1", () => void seen.readersLeft++)) },
    log: { info() {}, warn() {}, error() {} },
    hide: (text) => text,
    open,
  });
  const route = routes.find(({ path }) => path === "/machines/api/threads/:id");
  const request: HttpRequest = {
    method: "GET",
    path: "/machines/api/threads/t1",
    query: "",
    headers: new Map([["authorization", "Bearer ik_test"]]),
    address: "",
    contentLength: null,
    body: () => Promise.reject(new Error("no body")),
  };
  const answer = await route?.handle({ request, params: { id: "t1" }, traceparent: null, note() {} });
  let leave = (): void => {};
  const outlet: Outlet = {
    write: () => void seen.written++,
    end: () => void seen.ended++,
    onDrained: (callback) => callback(),
    pull: () => {},
    cut: () => {},
    onGone: (callback) => void (leave = callback),
  };
  answer?.stream?.(outlet);
  await vi.advanceTimersByTimeAsync(2_500);
  return { answer, seen, open, leave: () => leave() };
}

test("a watcher that left is released: its reading along, its polls and its beats end", async () => {
  const { seen, open, leave } = await openWatch();
  expect(seen).toEqual({ loads: 3, readersLeft: 0, written: expect.any(Number), ended: 0 });
  expect(open.size).toBe(1);
  const before = { ...seen };
  leave();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual({ ...before, readersLeft: 1 });
  expect(open.size).toBe(0);
});

test("a watch is told as it happens, and no proxy keeps or changes it", async () => {
  const { answer } = await openWatch();
  expect(answer).toMatchObject({
    status: 200,
    headers: {
      "content-type": "application/x-ndjson",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    },
  });
});

test("a service that stops ends each watch, and releases it as well", async () => {
  const { seen, open } = await openWatch();
  const before = { ...seen };
  for (const end of open) end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual({ ...before, readersLeft: 1, ended: 1 });
  expect(open.size).toBe(0);
});
