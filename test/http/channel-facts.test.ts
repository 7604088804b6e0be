import { expect, test } from "vitest";
import { shop, startService } from "./service.ts";

async function open(channel: object) {
  const service = await startService({ WIDGET_MAX_BODY_BYTES: "20000" });
  await service.store.putChannel({ ...shop, ...channel });
  await service.renew();
  const ask = (key = "pk_shop") =>
    service.ask({ method: "GET", path: "/widget/v1/channel", query: `key=${key}`, headers: {} });
  return { ...service, ask };
}

test.each([
  [{ agent: { images: true } }, { maxBodyBytes: 20_000, images: true }],
  [{ agent: { images: false } }, { maxBodyBytes: 20_000 }],
  [{ agent: {} }, { maxBodyBytes: 20_000 }],
  [{ handoff: { enabled: true } }, { maxBodyBytes: 20_000, handoff: true }],
  [{ handoff: { enabled: false } }, { maxBodyBytes: 20_000 }],
  [{ handoff: { enabled: true }, enabled: false }, { maxBodyBytes: 20_000 }],
  [{ agent: { images: true }, enabled: false }, { maxBodyBytes: 20_000 }],
])("a page with the key of a channel of %o is told %o, and is no visitor", async (channel, told) => {
  const { ask, store } = await open(channel);
  const got = await ask();
  expect(got.status).toBe(200);
  expect(got.headers).toMatchObject({ "access-control-allow-origin": "*" });
  expect(await got.json()).toEqual(told);
  expect(await store.users("shop")).toEqual([]);
});

test("of a key that is unknown nothing else is said than of a channel that takes no images", async () => {
  const { ask } = await open({ agent: { images: true } });
  const got = await ask("pk_no");
  expect(got.status).toBe(200);
  expect(await got.json()).toEqual({ maxBodyBytes: 20_000 });
});
