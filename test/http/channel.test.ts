import { expect, test } from "vitest";
import { ORIGIN, shop, startService } from "./service.ts";

async function open(agent: object, environment: Record<string, string> = {}) {
  const service = await startService(environment);
  await service.store.putChannel({ ...shop, agent });
  await service.renew();
  const headers = { origin: ORIGIN, "x-publishable-key": "pk_shop" };
  const ask = (own: Record<string, string> = headers) =>
    service.ask({ method: "GET", path: "/v1/widget/channel", headers: own });
  return { ...service, ask };
}

test.each([
  [{ images: true }, { maxBodyBytes: 20_000, images: true }],
  [{ images: false }, { maxBodyBytes: 20_000 }],
  [{}, { maxBodyBytes: 20_000 }],
])("a page with the key of a channel of %o is told %o, and is no visitor", async (agent, told) => {
  const { ask, store } = await open(agent, { WIDGET_MAX_BODY_BYTES: "20000" });
  const got = await ask();
  expect(got.status).toBe(200);
  expect(await got.json()).toEqual(told);
  expect(await store.users("shop")).toEqual([]);
});

test("another key is 401, another origin 403, a disabled channel 403", async () => {
  const { ask, store, renew } = await open({ images: true });
  expect((await ask({ origin: ORIGIN, "x-publishable-key": "pk_no" })).status).toBe(401);
  expect((await ask({ origin: "https://other.example", "x-publishable-key": "pk_shop" })).status).toBe(403);
  await store.putChannel({ ...shop, enabled: false });
  await renew();
  expect((await ask()).status).toBe(403);
});

test("it counts as a read of the address, and not as a visitor", async () => {
  const { ask } = await open({}, { WIDGET_VISITORS_PER_HOUR_PER_IP: "1", WIDGET_IP_READS_PER_MINUTE: "3" });
  const statuses = [];
  for (let n = 0; n < 4; n += 1) statuses.push((await ask()).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
});
