// For src/domain/channels/webhook.ts, src/webhooks/sign.ts
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { withOlderSecrets } from "../../src/domain/channels/webhook.ts";
import { upsertChannels } from "../../src/installation/channels-file.ts";
import { Secret } from "../../src/secret.ts";
import { secretsOf, signedHeaders } from "../../src/webhooks/sign.ts";
import { startOperated } from "../http/operator-api/operators-service.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { SECRET, startReceiver } from "./receiver.ts";

const HOUR_MS = 3_600_000;
const named = (name: string) => `whsec_${Buffer.from(`a secret of the test, ${name}`).toString("base64")}`;
const [FIRST, SECOND, THIRD] = [named("first"), named("second"), named("third")];
const url = "https://office.example/hook";

/** Which of these secrets verify what is sent at that time. */
function verifying(webhook: Parameters<typeof secretsOf>[0], nowMs: number): string[] {
  const body = '{"type":"webhook.test"}';
  // The library refuses old requests by the real clock: the secrets are chosen at nowMs, and sign now.
  const secrets = secretsOf(webhook, () => null, nowMs);
  const headers = signedHeaders({ id: "msg_1", body, atMs: Date.now() }, secrets);
  return [FIRST, SECOND, THIRD].filter((secret) => {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  });
}

describe("H1: a webhook whose secret changes", () => {
  test("is signed with both for 24 hours, each verified by the library of Standard Webhooks", () => {
    const [second = null] = withOlderSecrets([{ url, secret: FIRST }], [{ url, secret: SECOND }], 0);
    if (second === null) throw new Error("Cannot find the webhook");
    expect(verifying(second, 24 * HOUR_MS - 1)).toEqual([FIRST, SECOND]);
    expect(verifying(second, 24 * HOUR_MS)).toEqual([SECOND]);
    const [third = second] = withOlderSecrets([second], [{ url, secret: THIRD }], 23 * HOUR_MS);
    expect(verifying(third, 23 * HOUR_MS)).toEqual([FIRST, SECOND, THIRD]);
    expect(verifying(third, 25 * HOUR_MS)).toEqual([SECOND, THIRD]);
    expect(verifying(third, 47 * HOUR_MS)).toEqual([THIRD]);
    // Back again: it is the present one, and no older one.
    const [back = third] = withOlderSecrets([second], [{ url, secret: FIRST }], HOUR_MS);
    expect(verifying(back, HOUR_MS)).toEqual([FIRST, SECOND]);
    expect(verifying(back, 26 * HOUR_MS)).toEqual([FIRST]);
  });

  test("sends one signature where nothing changed, and the present one first", () => {
    const secrets = [new Secret(SECOND), new Secret(FIRST)];
    const sign = (some: Secret[]) =>
      signedHeaders({ id: "a", body: "{}", atMs: 1_000 }, some)["webhook-signature"];
    expect(sign(secrets)).toBe(`${sign(secrets.slice(0, 1))} ${sign(secrets.slice(1))}`);
    expect(sign(secrets.slice(0, 1))).toMatch(/^v1,[^ ]+$/);
  });

  test("keeps at most four secrets of before, however often it changes", () => {
    let webhook = { url, secret: "whsec_0" };
    for (let nth = 1; nth < 50; nth++)
      [webhook = webhook] = withOlderSecrets([webhook], [{ url, secret: `whsec_${nth}` }], nth);
    expect(webhook).toMatchObject({
      olderSecrets: [45, 46, 47, 48].map((nth) => ({ secret: `whsec_${nth}` })),
    });
  });

  test("by the API and by the file; no other change ends or shows the older one, and another url has none", async () => {
    const { as, store, clock } = await startOperated();
    const change = async (secret: string, more: object = {}) =>
      (await as("shop-admin", "PATCH", "/channels/shop", { webhooks: [{ url, secret, ...more }] })).status;
    expect(await change(FIRST)).toBe(200);
    expect((await store.channel("shop"))?.webhooks).toEqual([{ url, secret: FIRST }]);
    expect(await change(SECOND)).toBe(200);
    const untilMs = clock.nowMs + 24 * HOUR_MS;
    const older = [{ secret: FIRST, untilMs }];
    clock.nowMs += HOUR_MS;
    expect(await change("[secret]", { events: ["run.ended"] })).toBe(200);
    await as("shop-admin", "PATCH", "/channels/shop", { enabled: true });
    await upsertChannels(store, [{ slug: "shop", agent: { instructions: "x" } }]);
    const events = ["run.ended" as const];
    expect((await store.channel("shop"))?.webhooks).toEqual([
      { url, secret: SECOND, events, olderSecrets: older },
    ]);
    for (const path of ["/channels/shop", "/channels/shop/webhooks", "/channels"]) {
      const shown = await (await as("admin", "GET", path)).text();
      expect(shown).not.toMatch(/whsec_|olderSecrets/);
    }
    const file = [{ slug: "shop", webhooks: [{ url, secret: THIRD, events }] }];
    await upsertChannels(store, file);
    const secrets = (await store.channel("shop"))?.webhooks?.[0]?.olderSecrets?.map(({ secret }) => secret);
    expect(secrets?.at(-1)).toBe(SECOND);
    // A start with the same file overrides nothing.
    expect(await upsertChannels(store, file)).toEqual([]);
    const elsewhere = { webhooks: [{ url: "https://new.example/hook", secret: THIRD }] };
    expect((await as("shop-admin", "PATCH", "/channels/shop", elsewhere)).status).toBe(200);
    expect((await store.channel("shop"))?.webhooks).toEqual(elsewhere.webhooks);
  });

  test("while events wait: a receiver with the old secret still verifies them", async () => {
    const receiver = await startReceiver(() => 204, SECRET);
    const webhooks = withOlderSecrets(
      [{ url: receiver.url, secret: SECRET }],
      [{ url: receiver.url, secret: SECOND, events: ["run.ended"] }],
      Date.now(),
    );
    const service = await startTestService({
      env: { WEBHOOKS_PRIVATE: "on" },
      channels: [
        {
          slug: "cli",
          kind: "transport",
          publishableKey: null,
          secretKeyHash: null,
          allowedOrigins: [],
          enabled: true,
          accessMode: "open",
          agent: {},
          webhooks,
        },
      ],
    });
    await sendMessage(service.url, { threadId: "t", userId: "u", text: "Hello" });
    await expect.poll(() => receiver.taken().length, { timeout: 60_000 }).toBe(1);
    expect(receiver.faults).toEqual([]);
    expect(receiver.told[0]?.signature.split(" ")).toHaveLength(2);
  });
});
