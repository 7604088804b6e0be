// For src/messengers/check.ts, src/cli/messengers.ts, src/http/operator-api/messenger.ts
import { describe, expect, test } from "vitest";
import { createChannelVariables } from "../../src/config/channel-variables.ts";
import { checkMessenger } from "../../src/messengers/check.ts";
import { startOperated } from "../http/operator-api/operators-service.ts";
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
