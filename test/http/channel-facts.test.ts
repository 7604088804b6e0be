// For src/http/channel-facts.ts, src/protocol/channel-facts.ts
import { describe, expect, test } from "vitest";
import { ORIGIN, shop, startService } from "./service.ts";

async function open(channel: object) {
  const service = await startService({ WIDGET_MAX_BODY_BYTES: "20000", FILES_MAX_BYTES: "30000" });
  await service.store.putChannel({ ...shop, ...channel });
  await service.renew();
  const ask = (key = "pk_shop") =>
    service.ask({ method: "GET", path: "/widget/v1/channel", query: `key=${key}`, headers: {} });
  return { ...service, ask };
}

/** Of an enabled channel. */
const FACTS = { maxBodyBytes: 20_000, fileBytes: 30_000 };

test.each([
  [{ agent: { images: true } }, { ...FACTS, images: true }],
  [{ agent: { images: false } }, FACTS],
  [{ agent: {} }, FACTS],
  [{ agent: { files: false } }, { maxBodyBytes: 20_000 }],
  [{ handoff: { enabled: true } }, { ...FACTS, handoff: true }],
  [{ handoff: { enabled: false } }, FACTS],
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

test("of a key that is unknown nothing is said of what a channel takes", async () => {
  const { ask } = await open({ agent: { images: true } });
  const got = await ask("pk_no");
  expect(got.status).toBe(200);
  expect(await got.json()).toEqual({ maxBodyBytes: 20_000 });
});

test("outside the hours of its people it is told when somebody is there again", async () => {
  const hours = { timeZone: "Europe/Berlin", week: { mon: ["09:00-17:00"] } };
  const { ask, clock } = await open({ handoff: { enabled: true, hours } });
  clock.nowMs = Date.parse("2026-11-30T07:00:00Z");
  const facts = async () => (await ask()).json();
  const again = Date.parse("2026-11-30T08:00:00Z");
  expect(await facts()).toEqual({ ...FACTS, peopleAgainAt: again });
  clock.nowMs = again;
  expect(await facts()).toEqual({ ...FACTS, handoff: true });
});

describe("H1: a page whose origin the channel does not allow", () => {
  const warnings = (logged: string[]) => logged.filter((line) => line.startsWith("refused "));

  test.each([
    ["its own origin", { origin: ORIGIN }, {}],
    ["another port", { origin: `${ORIGIN}:8443` }, { originAllowed: false }],
    ["without TLS", { origin: "http://shop.example" }, { originAllowed: false }],
    ["a name that begins the same", { origin: `${ORIGIN}.evil.example` }, { originAllowed: false }],
    ["another channel's origin", { origin: "https://other.example" }, { originAllowed: false }],
    ["a file", { origin: "null" }, { originAllowed: false }],
    ["the service's own host", { host: "shop.example", "sec-fetch-site": "same-origin" }, {}],
    ["another host", { host: "chat.example", "sec-fetch-site": "same-origin" }, { originAllowed: false }],
    ["a page by its Referer", { referer: `${ORIGIN}/cart` }, {}],
    ["another page by its Referer", { referer: "https://chat.example/" }, { originAllowed: false }],
    ["no page", {}, {}],
    ["a Referer that is none", { referer: "x" }, {}],
  ])("is told so: %s", async (_row, headers: Record<string, string>, told) => {
    const { ask } = await startService();
    const got = await ask({ path: "/widget/v1/channel", query: "key=pk_shop", headers });
    expect(await got.json()).toEqual({ maxBodyBytes: 131_072, fileBytes: 4_194_304, ...told });
    expect(got.headers["vary"]).toBe("Origin");
  });

  test("learns nothing of a key that is unknown", async () => {
    const { ask, logged } = await startService();
    const headers = { origin: "https://nowhere.example" };
    const got = await ask({ path: "/widget/v1/channel", query: "key=pk_no", headers });
    expect(await got.json()).toEqual({ maxBodyBytes: 131_072 });
    expect(warnings(logged)).toEqual([]);
  });

  test("is one warning for each origin an hour, whatever it asks, with what to do", async () => {
    const { ask, post, logged, clock } = await startService();
    const headers = { origin: "https://www.shop.example", "x-publishable-key": "pk_shop" };
    const facts = () => ask({ path: "/widget/v1/channel", query: "key=pk_shop", headers });
    for (let i = 0; i < 3; i++) {
      await facts();
      expect((await ask({ method: "OPTIONS", path: "/v1/widget/visitors", headers })).status).toBe(403);
      expect((await post("/v1/widget/visitors", "", { headers })).status).toBe(403);
    }
    expect(warnings(logged)).toEqual([
      'refused a page of an origin that is not allowed: if it is yours, add it to the channel\'s allowedOrigins {"origin":"https://www.shop.example","slug":"shop"} ',
    ]);
    clock.nowMs += 3_600_000;
    await facts();
    expect(warnings(logged)).toHaveLength(2);
  });

  test("cannot fill the log, nor write into it what is no origin", async () => {
    const { ask, logged } = await startService();
    const facts = (origin: string) =>
      ask({ path: "/widget/v1/channel", query: "key=pk_shop", headers: { origin } });
    for (const text of ["x", "https://a b", "https://a.example/$(id)", `https://${"a".repeat(300)}`]) {
      await facts(text);
    }
    expect(warnings(logged)).toEqual([]);
    for (let i = 0; i < 500; i++) await facts(`https://s${i}.example`);
    expect(warnings(logged)).toHaveLength(50);
    expect(logged.filter((line) => line.includes("many origins"))).toHaveLength(1);
  });
});
