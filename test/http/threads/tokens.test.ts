// For src/visitors/, src/http/widget-api/
import { describe, expect, test } from "vitest";
import { ORIGIN, SECRET_KEY, startService } from "../service.ts";
import type { Service } from "../service.ts";

const DAY_MS = 86_400_000;

function asBackend({ post }: Service, what: "identify" | "revoke", body: object) {
  const headers = { authorization: `Bearer ${SECRET_KEY}` };
  return post(`/v1/channels/shop/${what}`, body, { headers });
}

async function statusOf({ ask }: Service, token: string, threadId: string): Promise<number> {
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  return (await ask({ path: `/v1/widget/threads/${threadId}/messages`, headers })).status;
}

describe("a token that is rotated by identify", () => {
  test.each([
    ["into a new account", false],
    ["into an account that is there", true],
  ])("P16: %s is 401 at once, and the new one has its threads", async (_, merged) => {
    const service = await startService();
    if (merged) {
      const other = await service.newToken();
      await asBackend(service, "identify", { visitorToken: other, externalUserId: "account-7" });
    }
    const visitorToken = await service.newToken();
    const threadId = await service.newThread(visitorToken);
    const body = { visitorToken, externalUserId: "account-7", rotate: true };
    const got = await asBackend(service, "identify", body);
    const answer = (await got.json()) as { visitorToken: string; expiresAt: number };
    expect(answer).toMatchObject({ merged, expiresAt: service.clock.nowMs + DAY_MS });
    expect(await statusOf(service, visitorToken, threadId)).toBe(401);
    expect(await statusOf(service, answer.visitorToken, threadId)).toBe(200);
    // Bound to the same account, it can be rotated again; the old one cannot.
    const again = { ...body, visitorToken: answer.visitorToken };
    expect((await asBackend(service, "identify", again)).status).toBe(200);
    expect((await asBackend(service, "identify", body)).status).toBe(404);
  });

  test("without rotate nothing is answered but who it is", async () => {
    const service = await startService();
    const body = { visitorToken: await service.newToken(), externalUserId: "account-7" };
    const got = await asBackend(service, "identify", body);
    expect(Object.keys((await got.json()) as object)).toEqual(["userId", "merged"]);
  });
});

test("P16: POST …/revoke ends all tokens of an account, and no other; 204 where there is none", async () => {
  const service = await startService();
  const [phone, laptop, stranger] = [
    await service.newToken(),
    await service.newToken(),
    await service.newToken(),
  ];
  const threadId = await service.newThread(phone);
  for (const visitorToken of [phone, laptop]) {
    await asBackend(service, "identify", { visitorToken, externalUserId: "account-7" });
  }
  expect(await statusOf(service, laptop, threadId)).toBe(200);
  expect((await asBackend(service, "revoke", { externalUserId: "nobody" })).status).toBe(204);
  const revoked = await asBackend(service, "revoke", { externalUserId: "account-7" });
  expect([revoked.status, await revoked.text()]).toEqual([204, ""]);
  expect(await statusOf(service, phone, threadId)).toBe(401);
  expect(await statusOf(service, laptop, threadId)).toBe(401);
  expect(await statusOf(service, stranger, threadId)).toBe(404);
  const again = await service.newToken();
  await asBackend(service, "identify", { visitorToken: again, externalUserId: "account-7" });
  expect(await statusOf(service, again, threadId)).toBe(200);
  const unknown = await service.post("/v1/channels/nope/revoke", { externalUserId: "a" });
  const wrongKey = await service.post("/v1/channels/shop/revoke", { externalUserId: "a" });
  expect([unknown.status, wrongKey.status]).toEqual([404, 401]);
});

test("P16: WIDGET_VISITOR_MAX_AGE_SECONDS ends a token whatever its use", async () => {
  const service = await startService({
    WIDGET_VISITOR_TTL_SECONDS: "60",
    WIDGET_VISITOR_MAX_AGE_SECONDS: "100",
  });
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const seen = [];
  for (let use = 0; use < 4; use++) {
    service.clock.nowMs += 30_000;
    seen.push(await statusOf(service, token, threadId));
  }
  expect(seen).toEqual([200, 200, 200, 401]);
});
