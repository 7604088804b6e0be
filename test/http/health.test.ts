// For src/http/health.ts
import { expect, test } from "vitest";
import type { Store } from "../../src/store.ts";
import { startService, TRANSPORT_KEY } from "./service.ts";

const LIVE = { path: "/health", query: "live" };

/** What a store says of itself that takes no change: full, read-only, or away. */
async function withStore(health: Store["health"]) {
  let asked = 0;
  const clock = { nowMs: 0, now: () => 0, elapsed: () => clock.nowMs };
  const { store, ask } = await startService({}, { clock });
  store.health = () => {
    asked++;
    return health();
  };
  return { ask, clock, asked: () => asked };
}

const refusing = () => Promise.resolve({ reachable: false, warnings: [] });
const well = () => Promise.resolve({ reachable: true, warnings: ["set noeviction"] });

test("an instance whose store takes changes is ready, and tells who holds the key what it warns of", async () => {
  const { ask } = await withStore(well);
  const got = await ask({ path: "/health", headers: { authorization: `Bearer ${TRANSPORT_KEY}` } });
  for (const headers of [{}, { authorization: "Bearer another" }]) {
    const stranger = await ask({ path: "/health", headers });
    expect([stranger.status, await stranger.json()]).toEqual([
      200,
      { status: "ok", store: "embedded", model: "demo", ready: true },
    ]);
  }
  expect([got.status, await got.json()]).toEqual([
    200,
    { status: "ok", store: "embedded", model: "demo", ready: true, warnings: ["set noeviction"] },
  ]);
});

test("an instance that is still starting is not ready, and alive", async () => {
  let isStarting = true;
  const { ask } = await startService({}, { isStarting: () => isStarting });
  const got = await ask({ path: "/health" });
  expect([got.status, await got.json()]).toMatchObject([503, { status: "unavailable", ready: false }]);
  expect((await ask(LIVE)).status).toBe(200);
  isStarting = false;
  expect((await ask({ path: "/health" })).status).toBe(200);
});

test("an instance whose store refuses changes is not ready, and alive", async () => {
  const { ask, asked } = await withStore(refusing);
  const got = await ask({ path: "/health" });
  expect([got.status, await got.json()]).toEqual([
    503,
    { status: "unavailable", store: "embedded", model: "demo", ready: false },
  ]);
  for (const query of ["live", "live=1", "x=1&live="]) {
    const live = await ask({ ...LIVE, query });
    expect([live.status, await live.json()]).toEqual([
      200,
      { status: "ok", store: "embedded", model: "demo" },
    ]);
  }
  expect(asked()).toBe(1);
});

test("whether it lives is answered while the store does not answer at all", async () => {
  const { ask, asked } = await withStore(() => new Promise(() => {}));
  expect((await ask(LIVE)).status).toBe(200);
  expect(asked()).toBe(0);
});

test("an instance that is about to stop is not ready, and alive", async () => {
  const { ask, drain } = await startService();
  expect((await ask({ path: "/health" })).status).toBe(200);
  await drain();
  const got = await ask({ path: "/health" });
  expect([got.status, await got.json()]).toMatchObject([503, { status: "unavailable", ready: false }]);
  expect((await ask(LIVE)).status).toBe(200);
});

test("the store is asked once in a second, however many ask", async () => {
  const { ask, asked, clock } = await withStore(well);
  await Promise.all(Array.from({ length: 50 }, () => ask({ path: "/health" })));
  clock.nowMs = 999;
  await ask({ path: "/health", headers: { authorization: `Bearer ${TRANSPORT_KEY}` } });
  expect(asked()).toBe(1);
  clock.nowMs = 1_000;
  await ask({ path: "/health" });
  expect(asked()).toBe(2);
});
