// For src/admission/key-door.ts
import { expect, test } from "vitest";
import { WRONG_KEYS } from "../../../src/admission/key-door.ts";
import { ORIGIN, SECRET_KEY, startService, TRANSPORT_KEY } from "../service.ts";

const said = { threadId: "t1", userId: "ada" };

test("G9: after a hundred wrong keys in a minute the next wrong one from that address is 429, and a right one opens", async () => {
  const { ask, post, clock } = await startService();
  const access = async (key: string, address: string) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ channel: "cli", externalUserId: "ada" });
    return ask({ method: "POST", path: "/v1/access", headers, body, address });
  };
  for (let nth = 0; nth < WRONG_KEYS - 1; nth++) {
    expect((await access(`wrong-${nth}`, "192.0.2.9")).status).toBe(401);
  }
  expect((await access(TRANSPORT_KEY, "192.0.2.9")).status).toBe(200);
  // A secret key is guessed at the same door.
  const backend = { authorization: "Bearer sk_wrong" };
  const guess = await post("/v1/channels/shop/revoke", {}, { headers: backend, address: "192.0.2.9" });
  expect(guess.status).toBe(401);
  const refused = await access("wrong-again", "192.0.2.9");
  expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "55"]);
  expect((await access(TRANSPORT_KEY, "192.0.2.9")).status).toBe(200);
  const right = { authorization: `Bearer ${SECRET_KEY}` };
  const body = { externalUserId: "a" };
  const revoked = await post("/v1/channels/shop/revoke", body, { headers: right, address: "192.0.2.9" });
  expect(revoked.status).toBe(204);
  const health = await ask({
    path: "/health",
    headers: { authorization: `Bearer ${TRANSPORT_KEY}` },
    address: "192.0.2.9",
  });
  expect(await health.json()).toHaveProperty("warnings");
  expect((await access("wrong-again", "192.0.2.10")).status).toBe(401);
  clock.nowMs += 60_000;
  expect((await access("wrong-again", "192.0.2.9")).status).toBe(401);
});

test("H4: a 401 says which key opens", async () => {
  const { ask } = await startService();
  const wants = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const got = await ask({ method, path, headers });
    return [got.status, await got.text(), got.headers["www-authenticate"]];
  };
  const transport = 'Bearer realm="the transport key (HARNESS_API_KEY)"';
  expect(await wants("POST", "/v1/messages")).toEqual([401, "Unauthorized", transport]);
  expect(await wants("POST", "/v1/access", { authorization: "Bearer sk_shop" })).toEqual([
    401,
    "Unauthorized",
    transport,
  ]);
  const secret = 'Bearer realm="the secret key (sk_) of the web channel shop"';
  expect(await wants("POST", "/v1/channels/shop/identify")).toEqual([401, "Unauthorized", secret]);
  const operator = `Bearer realm="an operator's key (op_)"`;
  expect(await wants("GET", "/v1/operator/me")).toEqual([401, "Unauthorized", operator]);
  const headers = { origin: ORIGIN, "x-visitor-token": "x" };
  expect(await wants("POST", "/v1/widget/threads", headers)).toEqual([401, "", undefined]);
});

test("HARNESS_API_KEY may hold several keys: each is good", async () => {
  const { post } = await startService({
    HARNESS_API_KEY: "the-new-key-of-this-service the-old-key-of-this-service",
  });
  for (const [key, status] of [
    ["the-old-key-of-this-service", 204],
    ["the-new-key", 401],
    ["the-new-key-of-this-service the-old-key-of-this-service", 401],
  ] as const) {
    const headers = { authorization: `Bearer ${key}` };
    expect((await post("/v1/messages/cancel", said, { headers })).status).toBe(status);
  }
});

test("the log says from where it was that was refused, unless LOG_ADDRESSES is off", async () => {
  const lines = async (env: Record<string, string>) => {
    const { ask, logged } = await startService(env);
    await ask({ path: "/metrics-of-nobody", address: "192.0.2.7" });
    await ask({ method: "POST", path: "/v1/access", address: "192.0.2.7" });
    await ask({ path: "/v1/widget/threads/x/messages", address: "192.0.2.7" });
    for (let nth = 0; nth < 2; nth++) {
      const headers = { origin: ORIGIN, "x-publishable-key": "pk_shop" };
      await ask({ method: "POST", path: "/v1/widget/visitors", headers, address: "192.0.2.7" });
    }
    return logged.map((line) => [Number(/"status":(\d+)/.exec(line)?.[1]), line.includes("192.0.2.7")]);
  };
  const once = { WIDGET_VISITORS_PER_HOUR_PER_IP: "1" };
  const statuses = [404, 401, 403, 201, 429];
  const isRefused = [false, true, true, false, true];
  expect(await lines(once)).toEqual(statuses.map((status, nth) => [status, isRefused[nth]]));
  expect(await lines({ ...once, LOG_ADDRESSES: "off" })).toEqual(statuses.map((status) => [status, false]));
});
