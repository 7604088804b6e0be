// For src/messengers/check.ts, src/cli/messengers.ts, src/http/operator-api/messenger.ts
import { describe, expect, test } from "vitest";
import { createChannelVariables } from "../../src/config/channel-variables.ts";
import { checkMessenger } from "../../src/messengers/check.ts";
import { startOperated } from "../http/operator-api/operators-service.ts";
import type { Platform } from "../../src/messengers/platform.ts";
import { discord } from "../../src/messengers/platforms/discord.ts";
import { teams } from "../../src/messengers/platforms/teams.ts";
import { whatsapp } from "../../src/messengers/platforms/whatsapp.ts";
import { PLATFORMS } from "./each-platform.ts";
import { transportChannel } from "./transport-channel.ts";

const log = { info() {}, warn() {}, error() {} };
const about = { variables: createChannelVariables({ env: {} }), publicUrl: "https://chat.example", log };

describe("messengers check", () => {
  test.each(PLATFORMS.filter(({ name }) => ["telegram", "slack"].includes(name)))(
    "says of $name what is wrong with its token",
    async ({ start }) => {
      const { messenger } = await start();
      const settings = { ...messenger.settings, botToken: "another" };
      const [problem] = await checkMessenger(transportChannel("bot", { ...messenger, settings }), about);
      expect(problem).toContain("botToken");
      expect(problem).not.toContain("another");
    },
  );

  test("says that Telegram sends nothing yet, and of Slack nothing where all is right", async () => {
    const problems = await Promise.all(
      PLATFORMS.slice(0, 2).map(async ({ start }) =>
        checkMessenger(transportChannel("bot", (await start()).messenger), about),
      ),
    );
    expect(problems[0]).toEqual([
      "Telegram sends nothing yet: call setWebhook with https://chat.example/v1/messengers/bot",
    ]);
    expect(problems[1]).toEqual([]);
  });

  test("says that a platform cannot be reached, without the token", async () => {
    const settings = { botToken: "secret", secretToken: "s", apiUrl: "http://127.0.0.1:9" };
    const problems = await checkMessenger(transportChannel("bot", { type: "telegram", settings }), about);
    expect(problems).toEqual([expect.stringMatching(/^Telegram cannot be reached: /)]);
    expect(problems.join()).not.toContain("secret");
  });

  test("says which variable is unset", async () => {
    const settings = { botToken: "$CHANNEL_TOKEN", secretToken: "s" };
    expect(await checkMessenger(transportChannel("bot", { type: "telegram", settings }), about)).toEqual([
      "messenger.settings.botToken is $CHANNEL_TOKEN, which is unset, or not for this channel",
    ]);
  });
});

/** What a platform answers to a question; null: nobody is there. */
type Answers = (url: string, init?: RequestInit) => [status: number, body: unknown] | null;

/** Of the platforms' published answers: what the check says of each, and that it names no secret. */
const CASES: [says: string, platform: Platform, settings: Record<string, string>, Answers, string[]][] = [
  [
    "nothing of WhatsApp where all is right",
    whatsapp,
    { accessToken: "secret", phoneNumberId: "77" },
    (url, init) =>
      url === "https://graph.facebook.com/v21.0/77?fields=display_phone_number" &&
      new Headers(init?.headers).get("authorization") === "Bearer secret"
        ? [200, { display_phone_number: "+1 555" }]
        : [400, {}],
    [],
  ],
  [
    "that WhatsApp takes no token that has ended",
    whatsapp,
    { accessToken: "secret", phoneNumberId: "77" },
    () => [401, { error: { message: "Session has expired" } }],
    [
      "WhatsApp does not take the accessToken: Session has expired. Make one of a system user, which does not end",
    ],
  ],
  [
    "that an account's id is no phone number",
    whatsapp,
    { accessToken: "secret", phoneNumberId: "77" },
    () => [200, { id: "77" }],
    ["The phoneNumberId is no phone number: copy the Phone number ID, and not the account's"],
  ],
  [
    "that WhatsApp cannot be reached",
    whatsapp,
    { accessToken: "secret", phoneNumberId: "77" },
    () => null,
    ["WhatsApp cannot be reached: no connection"],
  ],
  [
    "nothing of Discord where all is right",
    discord,
    { botToken: "secret", applicationId: "1", publicKey: "k" },
    (url, init) =>
      url === "https://discord.com/api/v10/applications/@me" &&
      new Headers(init?.headers).get("authorization") === "Bot secret"
        ? [200, { id: "1", verify_key: "k", flags: 1 << 18 }]
        : [400, {}],
    [],
  ],
  [
    "what of Discord's does not fit together, all of it",
    discord,
    { botToken: "secret", applicationId: "1", publicKey: "k" },
    () => [200, { id: "2", verify_key: "l", flags: 0 }],
    [
      "The botToken is of another application than applicationId",
      "The publicKey is not this application's",
      "The bot gets no texts: switch Message Content Intent on, on the page Bot",
    ],
  ],
  [
    "that Discord takes no such token",
    discord,
    { botToken: "secret", applicationId: "1", publicKey: "k" },
    () => [401, { message: "401: Unauthorized", code: 0 }],
    ["Discord does not take the botToken: reset it on the page Bot, and paste it"],
  ],
  [
    "nothing of Teams where all is right",
    teams,
    { appId: "1", appPassword: "secret", appTenantId: "t" },
    (url, init) =>
      url === "https://login.microsoftonline.com/t/oauth2/v2.0/token" &&
      init?.body instanceof URLSearchParams &&
      init.body.get("client_secret") === "secret"
        ? [200, { access_token: "x" }]
        : [400, {}],
    [],
  ],
  [
    "that Microsoft gives no token",
    teams,
    { appId: "1", appPassword: "secret" },
    () => [401, { error: "invalid_client", error_description: "AADSTS7000215: Invalid client secret" }],
    ["Microsoft gives no token for appId and appPassword: AADSTS7000215: Invalid client secret"],
  ],
  [
    "that Microsoft cannot be reached",
    teams,
    { appId: "1", appPassword: "secret" },
    () => null,
    ["Microsoft cannot be reached: no connection"],
  ],
];

test.each(CASES)("a check says %s", async (_says, platform, settings, answers, problems) => {
  const ask = (url: string, init?: RequestInit) => {
    const answer = answers(url, init);
    const [status, body] = answer ?? [];
    return Promise.resolve(
      status === undefined ? { problem: "no connection" } : { status, headers: {}, body },
    );
  };
  expect(await platform.check({ settings, webhookUrl: null, ask })).toEqual(problems);
});

describe("a channel's messenger, over the operator API", () => {
  const settings = { botToken: "4242:secret", secretToken: "also-secret" };

  test("never shows its secrets, and keeps those that a change leaves out", async () => {
    const { as, store } = await startOperated();
    const made = { slug: "tg", kind: "transport", messenger: { type: "telegram", settings } };
    const answer = await as("admin", "POST", "/channels", made);
    expect(answer.status).toBe(201);
    expect(await answer.text()).not.toContain('secret"');
    const shown = await (await as("admin", "GET", "/channels/tg")).text();
    expect(shown).not.toContain("4242");
    expect(shown).not.toContain("also-secret");
    const changed = { messenger: { settings: { botToken: "[secret]", userName: "shop" } } };
    expect((await as("admin", "PATCH", "/channels/tg", changed)).status).toBe(200);
    expect((await store.channel("tg"))?.messenger).toEqual({
      type: "telegram",
      settings: { ...settings, userName: "shop" },
    });
    expect((await as("admin", "PATCH", "/channels/tg", { enabled: true })).status).toBe(200);
    expect((await store.channel("tg"))?.messenger?.settings["botToken"]).toBe("4242:secret");
    expect((await as("admin", "PATCH", "/channels/tg", { messenger: null })).status).toBe(200);
    expect((await store.channel("tg"))?.messenger).toBeUndefined();
  });

  test.each([
    [
      "another address of the API",
      { type: "telegram", settings: { ...settings, apiUrl: "http://127.0.0.1" } },
    ],
    ["an unknown platform", { type: "pager", settings: {} }],
    ["a missing setting", { type: "telegram", settings: { botToken: "t" } }],
    ["an unknown setting", { type: "telegram", settings: { ...settings, mode: "polling" } }],
  ])("refuses %s", async (_, messenger) => {
    const { as } = await startOperated();
    expect(
      (await as("admin", "POST", "/channels", { slug: "tg", kind: "transport", messenger })).status,
    ).toBe(422);
  });

  test("is of transport channels alone", async () => {
    const { as } = await startOperated();
    const messenger = { type: "telegram", settings };
    expect((await as("admin", "PATCH", "/channels/shop", { messenger })).status).toBe(422);
  });
});
