// For src/cli/, src/cli/channels/, src/cli/command/
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openKeysFile, readKeysFile } from "../../src/installation/keys-file.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = temporaryFolder();
  // As a first start leaves it.
  await withStore(async () => {});
});

const run = (...args: string[]) => runCommand({ DATA_DIR: dataDir }, args);

async function runJson(...args: string[]): Promise<unknown> {
  const { code, out, err } = await run(...args, "--json");
  expect(err).toBe("");
  expect(code).toBe(0);
  return JSON.parse(out);
}

async function withStore(use: (store: Store) => Promise<void>): Promise<void> {
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  await use(store);
  await store.close();
}

describe("every command", () => {
  test.each([
    [[]],
    [["serve"]],
    [["chat"]],
    [["channels"]],
    [["channels", "create"]],
    [["users"]],
    [["users", "block"]],
    [["ips"]],
    [["threads", "show"]],
    [["replay"]],
  ])("chat-agent %j --help tells what it takes and exits 0", async (args) => {
    const { code, out } = await run(...args, "--help");
    expect(code).toBe(0);
    expect(out).toContain("Usage: chat-agent");
  });

  test.each([
    [["chanels"], "unknown command"],
    [["users", "list"], "missing required argument"],
    [["users", "list", "cli", "--colour"], "unknown option"],
    [["chat", "--url", "banana"], "http:// or https:// address"],
    [["channels", "create", "shop"], "needs --kind"],
    [["channels", "create", "Shop", "--kind", "web"], "1 to 64 of a-z 0-9 - _"],
    [["channels", "create", "shop", "--kind", "mail"], "Allowed choices are web, transport"],
    [["channels", "create", "shop", "--kind", "web", "--origin", "null"], "scheme://host"],
    [["channels", "create", "shop", "--kind", "web", "--publishable-key", "x"], "must start with pk_"],
    [
      ["channels", "create", "bot", "--kind", "transport", "--origin", "https://a.b"],
      "has no allowedOrigins",
    ],
    [["channels", "create", "bot", "--kind", "web", "--agent", "/nowhere.json"], "ENOENT"],
    [["threads", "list"], "which channel?"],
    [["threads", "list", "bot", "ada", "--state", "idle"], "--state goes with --user"],
    [["threads", "list", "--channel", "bot", "bot", "ada"], "--channel goes with --user"],
    [["ips", "block", "somewhere"], "IPv4 or IPv6 address"],
    [["ips", "block", "10.0.0.0/33"], "IPv4 or IPv6 address"],
  ])("wrong use %j exits 2 and says what is wrong", async (args, complaint) => {
    const { code, out, err } = await run(...args);
    expect(code).toBe(2);
    expect(err).toContain(complaint);
    expect(out).toBe("");
  });

  test.each([
    [["channels", "show", "nope"]],
    [["channels", "update", "nope", "--model", "m"]],
    [["channels", "disable", "nope"]],
    [["channels", "rotate-keys", "nope"]],
    [["users", "list", "nope"]],
    [["users", "block", "nope", "u"]],
    [["threads", "list", "nope", "u"]],
    [["threads", "show", "nope", "t"]],
    [["ips", "unblock", "192.0.2.1"]],
  ])("%j exits 1: there is no such thing", async (args) => {
    const { code, out, err } = await run(...args);
    expect(code).toBe(1);
    expect(err).toMatch(/^Cannot .+\n$/);
    expect(out).toBe("");
  });

  test.each([
    ["channels", "list"],
    ["channels", "create", "bot", "--kind", "transport"],
    ["users", "list", "cli"],
    ["ips", "list"],
    ["store", "info"],
    ["store", "check"],
    ["store", "backup", "/dev/null/backup"],
  ])("%s makes no store where there is none, and says where it looked", async (...args) => {
    const elsewhere = join(dataDir, "mistyped");
    const { code, out, err } = await runCommand({ DATA_DIR: elsewhere }, args);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(`Cannot find a store in DATA_DIR ${elsewhere}: `);
    expect(existsSync(elsewhere)).toBe(false);
  });

  test("a configuration that does not parse exits 1 with its line", async () => {
    const { code, err } = await runCommand({ DATA_DIR: dataDir, PORT: "x" }, ["channels", "list"]);
    expect(code).toBe(1);
    expect(err).toContain('PORT is "x"');
  });
});

describe("chat-agent channels", () => {
  test("create prints the keys that it made, once; show never does", async () => {
    const made = await runJson(
      "channels",
      "create",
      "shop",
      "--kind",
      "web",
      "--origin",
      "https://shop.example",
    );
    expect(made).toEqual({
      slug: "shop",
      kind: "web",
      publishableKey: expect.stringMatching(/^pk_/) as unknown,
      secretKey: expect.stringMatching(/^sk_/) as unknown,
      allowedOrigins: ["https://shop.example"],
      enabled: true,
      accessMode: "open",
      agent: {},
    });
    const { secretKey, ...rest } = made as Record<string, unknown>;
    expect(secretKey).toBeDefined();
    expect(await runJson("channels", "show", "shop")).toEqual(rest);
    expect(await runJson("channels", "list")).toEqual([rest]);
  });

  test.each(["--agent", "--webhooks"])(
    "%s names a file that is no JSON, and quotes nothing of it",
    async (option) => {
      const path = join(dataDir, "settings.json");
      writeFileSync(path, '\n"whsec_canary');
      const { code, err } = await run("channels", "create", "bot", "--kind", "transport", option, path);
      expect(code).toBe(2);
      expect(err).toMatch(/^error: [^\n]+settings\.json' is invalid\. The file is not JSON\.\n$/);
    },
  );

  test("--webhooks says who is told, keeps a secret that is left out, and ends them", async () => {
    const folder = temporaryFolder();
    const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
    const file = (webhooks: unknown) => {
      const path = join(folder, "webhooks.json");
      writeFileSync(path, JSON.stringify(webhooks));
      return path;
    };
    const url = "https://office.example/chat";
    const make = ["channels", "create", "bot", "--kind", "transport"];
    const made = await runJson(...make, "--webhooks", file([{ url, secret }]));
    expect(made).toMatchObject({ webhooks: [{ url, secret: "[secret]" }] });
    const update = (webhooks: unknown) =>
      run("channels", "update", "bot", "--json", "--webhooks", file(webhooks));
    const narrowed = await update([{ url, events: ["run.ended"] }]);
    expect(JSON.parse(narrowed.out)).toMatchObject({ webhooks: [{ url, events: ["run.ended"] }] });
    const refused = [
      await update([{ url: "http://127.0.0.1/", secret }]),
      await update([{ url, secret: "short" }]),
      await update({ url }),
    ];
    expect(refused.map(({ code }) => code)).toEqual([1, 2, 2]);
    expect(refused.map(({ err }) => err)).toEqual([
      expect.stringContaining("has no public address"),
      expect.stringContaining("must be whsec_ and base64"),
      expect.stringContaining("no list of webhooks"),
    ]);
    const shown = await runJson("channels", "show", "bot");
    expect(shown).toMatchObject({ webhooks: [{ url, secret: "[secret]", events: ["run.ended"] }] });
    expect(JSON.parse((await update([])).out)).not.toHaveProperty("webhooks");
  });

  test("create does not repeat keys that were given", async () => {
    const given = ["--publishable-key", "pk_mine", "--secret-key", "sk_mine"];
    const { out } = await run("channels", "create", "shop", "--kind", "web", ...given);
    expect(out).toContain("pk_mine");
    expect(out).not.toContain("sk_mine");
  });

  test("create refuses a slug that exists, and a publishable key that another channel has", async () => {
    await run("channels", "create", "shop", "--kind", "web", "--publishable-key", "pk_mine");
    const again = await run("channels", "create", "shop", "--kind", "web");
    expect(again).toMatchObject({ code: 1, out: "" });
    const twin = await run("channels", "create", "twin", "--kind", "web", "--publishable-key", "pk_mine");
    expect(twin.code).toBe(1);
    expect(twin.err).toContain("channel shop has or had that publishable key");
  });

  test("a transport channel has no keys and no origins", async () => {
    expect(await runJson("channels", "create", "bot", "--kind", "transport")).toEqual({
      slug: "bot",
      kind: "transport",
      enabled: true,
      accessMode: "open",
      agent: {},
    });
    expect((await run("channels", "rotate-keys", "bot")).code).toBe(1);
  });

  test("update changes the fields that are given, and leaves the others", async () => {
    await run("channels", "create", "shop", "--kind", "web", "--instructions", "Be short", "--model", "m1");
    const changes = [
      "--access-mode",
      "whitelist",
      "--origin",
      "https://a.example",
      "--origin",
      "https://b.example",
    ];
    expect(await runJson("channels", "update", "shop", ...changes, "--model", "m2")).toMatchObject({
      accessMode: "whitelist",
      allowedOrigins: ["https://a.example", "https://b.example"],
      agent: { instructions: "Be short", model: "m2" },
    });
  });

  test("--threads-days and --anonymous-days say what is deleted by itself, each apart", async () => {
    await run("channels", "create", "shop", "--kind", "web", "--threads-days", "0.5");
    const update = (...days: string[]) => runJson("channels", "update", "shop", ...days);
    expect(await update("--anonymous-days", "30")).toMatchObject({
      retention: { threadsDays: 0.5, anonymousDays: 30 },
    });
    expect(await update("--threads-days", "never")).toMatchObject({ retention: { anonymousDays: 30 } });
    expect(await update("--model", "m")).toMatchObject({ retention: { anonymousDays: 30 } });
    expect(await update("--anonymous-days", "never")).not.toHaveProperty("retention");
    for (const days of ["0", "-1", "soon", " "]) {
      expect((await run("channels", "update", "shop", "--threads-days", days)).code).not.toBe(0);
    }
  });

  test("--add-origin and --remove-origin leave the other origins", async () => {
    await run("channels", "create", "shop", "--kind", "web", "--origin", "https://a.example");
    const added = ["--add-origin", "https://b.example", "--add-origin", "https://a.example"];
    expect(await runJson("channels", "update", "shop", ...added)).toMatchObject({
      allowedOrigins: ["https://a.example", "https://b.example"],
    });
    expect(await runJson("channels", "update", "shop", "--remove-origin", "https://a.example")).toMatchObject(
      {
        allowedOrigins: ["https://b.example"],
      },
    );
    const again = await run("channels", "update", "shop", "--remove-origin", "https://a.example");
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("does not allow it") as unknown });
  });

  test("--agent takes a file, and refuses commands to run", async () => {
    const file = join(dataDir, "agent.json");
    const agent = {
      maxOutputTokensPerRun: 100,
      mcpServers: { orders: { url: "https://orders.example/mcp" } },
    };
    writeFileSync(file, JSON.stringify(agent));
    expect(await runJson("channels", "create", "bot", "--kind", "transport", "--agent", file)).toMatchObject({
      agent,
    });

    writeFileSync(file, JSON.stringify({ mcpServers: { local: { url: "http://10.0.0.1/mcp" } } }));
    const closed = await run("channels", "update", "bot", "--agent", file);
    expect(closed).toMatchObject({
      code: 1,
      err: "Cannot write channel bot: MCP server http://10.0.0.1/mcp has no public address, and MCP_PRIVATE is off\n",
    });

    writeFileSync(file, JSON.stringify({ mcpServers: { local: { command: "node" } } }));
    const refused = await run("channels", "update", "bot", "--agent", file);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("CHANNELS_FILE alone");
  });

  test("--agent replaces all settings, servers and headers; other options leave them", async () => {
    const file = join(dataDir, "agent.json");
    const update = (...args: string[]) => runJson("channels", "update", "bot", ...args);
    const [url, headers] = ["https://orders.example/mcp", { "x-key": "canary" }];
    const first = { temperature: 1, mcpServers: { orders: { url, headers }, other: { url } } };
    writeFileSync(file, JSON.stringify(first));
    await run("channels", "create", "bot", "--kind", "transport", "--agent", file);
    const kept = {
      ...first,
      mcpServers: { ...first.mcpServers, orders: { url, headers: { "x-key": "[secret]" } } },
    };
    expect(await update("--model", "m")).toMatchObject({ agent: { ...kept, model: "m" } });
    writeFileSync(file, JSON.stringify({ mcpServers: { orders: { url } } }));
    expect(await update("--agent", file, "--instructions", "Short")).toMatchObject({ slug: "bot" });
    await withStore(async (store) => {
      const channel = await store.channel("bot");
      expect(channel?.agent).toEqual({ instructions: "Short", mcpServers: { orders: { url } } });
    });
  });

  test("disable and enable", async () => {
    await run("channels", "create", "bot", "--kind", "transport");
    expect(await runJson("channels", "disable", "bot")).toMatchObject({ enabled: false });
    expect(await runJson("channels", "show", "bot")).toMatchObject({ enabled: false });
    expect(await runJson("channels", "enable", "bot")).toMatchObject({ enabled: true });
  });

  test("rotate-keys makes both keys anew and prints them; the demo's also for the next start", async () => {
    const before = openKeysFile(dataDir).demo;
    const given = ["--publishable-key", before.publishableKey, "--secret-key", before.secretKey.reveal()];
    await run("channels", "create", "demo", "--kind", "web", ...given);
    const rotated = (await runJson("channels", "rotate-keys", "demo")) as Record<string, string>;
    expect(rotated["publishableKey"]).not.toBe(before.publishableKey);
    expect(rotated["secretKey"]).toMatch(/^sk_/);
    const kept = readKeysFile(dataDir)?.demo;
    expect(kept?.publishableKey).toBe(rotated["publishableKey"]);
    expect(kept?.secretKey.reveal()).toBe(rotated["secretKey"]);
  });

  test("rotate-keys --overlap leaves the old keys valid for so many hours", async () => {
    await run(
      "channels",
      "create",
      "shop",
      "--kind",
      "web",
      "--publishable-key",
      "pk_old",
      "--secret-key",
      "sk_old",
    );
    const rotated = (await runJson("channels", "rotate-keys", "shop", "--overlap", "24h")) as object;
    expect(rotated).not.toHaveProperty("olderKeys");
    expect((await run("channels", "rotate-keys", "shop", "--overlap", "-1")).code).toBe(2);
    expect((await run("channels", "rotate-keys", "shop", "--overlap", "9000")).code).toBe(2);
  });

  test("the table is for people", async () => {
    expect((await run("channels", "list")).out).toBe("There are no channels yet\n");
    await run("channels", "create", "bot", "--kind", "transport");
    expect((await run("channels", "list")).out).toBe(
      "SLUG  KIND       ENABLED  ACCESS  ORIGINS\nbot   transport  yes      open    -\n",
    );
  });
});

describe("chat-agent users, ips and threads", () => {
  const user = {
    userId: expect.any(String) as unknown,
    externalUserId: "ada",
    displayName: "Ada \u001b[31m",
  };

  beforeEach(async () => {
    await run("channels", "create", "bot", "--kind", "transport");
    await withStore(async (store) => {
      await store.admitUser({
        slug: "bot",
        externalId: "ada",
        displayName: "Ada \u001b[31m",
        newUserId: "user-1",
        thread: { name: "my-thread", newUid: "uid-1" },
        creates: true,
        atMs: 1_000,
      });
    });
  });

  test("users are found by either id", async () => {
    const shown = { ...user, blocked: false, whitelisted: false };
    expect(await runJson("users", "list", "bot")).toEqual([shown]);
    expect(await runJson("users", "show", "bot", "ada")).toEqual(shown);
    expect(await runJson("users", "show", "bot", "user-1")).toEqual(shown);
    expect((await run("users", "show", "bot", "eve")).code).toBe(1);
  });

  test("users show tells what the site knows of a user", async () => {
    const attributes = { plan: "pro", seats: 3, trial: false };
    const caller = { slug: "bot", externalId: "ada", displayName: null, newUserId: "-", thread: null };
    await withStore(async (store) => {
      await store.admitUser({ ...caller, attributes, creates: true, atMs: 2_000 });
    });
    expect(await runJson("users", "show", "bot", "ada")).toMatchObject({ attributes });
    expect((await run("users", "show", "bot", "ada")).out).toMatch(/^attributes +\{"plan":"pro",.*\}$/m);
  });

  test("an id that begins with - is no option, wherever it stands", async () => {
    const [userId, threadId, uid] = [
      "-_JUWuIcabcdefghijklmn",
      "--JUWuIcabcdefghijklmn",
      "-0JUWuIcabcdefghijklmn",
    ];
    await withStore(async (store) => {
      const thread = { name: threadId, newUid: uid };
      const named = { slug: "bot", externalId: "old", displayName: null, newUserId: userId };
      await store.admitUser({ ...named, thread, creates: true, atMs: 1_000 });
    });
    expect(await runJson("users", "show", "bot", userId)).toMatchObject({ userId, externalUserId: "old" });
    expect(await runJson("threads", "list", "bot", userId)).toMatchObject([{ id: uid }]);
    expect(await runJson("threads", "show", "bot", uid)).toMatchObject({ id: uid });
    const named = await runJson("threads", "show", "bot", threadId, "--user", userId);
    expect(named).toMatchObject({ id: uid });
    expect(await runJson("users", "block", "bot", userId)).toMatchObject({ userId, blocked: true });
    const { out } = await run("users", "show", userId, "bot");
    expect(out).not.toContain("\u0000");
  });

  test("P12: block and whitelist stay until they are taken back", async () => {
    expect(await runJson("users", "block", "bot", "ada")).toMatchObject({ blocked: true });
    expect(await runJson("users", "whitelist", "bot", "ada")).toMatchObject({
      blocked: true,
      whitelisted: true,
    });
    expect(await runJson("users", "unblock", "bot", "user-1")).toMatchObject({
      blocked: false,
      whitelisted: true,
    });
    expect(await runJson("users", "unwhitelist", "bot", "ada")).toMatchObject({ whitelisted: false });
  });

  test("P16: users revoke ends all tokens of a user, and of no other", async () => {
    await run("channels", "create", "shop", "--kind", "web");
    const [mine, other] = ["user-2", "user-3"];
    await withStore(async (store) => {
      for (const userId of [mine, other]) {
        const token = { slug: "shop", tokenHash: `of ${userId}`, userId };
        await store.mintVisitor({ ...token, snapshot: "{}", ttlMs: 60_000, atMs: 1_000 });
      }
    });
    expect(await runJson("users", "revoke", "shop", mine)).toMatchObject({ userId: mine });
    await withStore(async (store) => {
      const admitted = (tokenHash: string) =>
        store.admitVisitor({ slug: "shop", tokenHash, ttlMs: 60_000, threadId: null });
      expect(await admitted(`of ${mine}`)).toBeNull();
      expect(await admitted(`of ${other}`)).not.toBeNull();
      const { items } = await store.audit({ limit: 1, after: null, sinceMs: 0 });
      expect(items[0]?.entry).toMatchObject({ action: "users.revoke", target: mine, slug: "shop" });
    });
    expect((await run("users", "revoke", "shop", "nobody")).code).toBe(1);
  });

  test("what users wrote does not steer the terminal", async () => {
    expect((await run("users", "list", "bot")).out).not.toContain("\u001b");
    expect((await run("users", "show", "bot", "ada")).out).not.toContain("\u001b");
  });

  test("addresses and ranges are blocked and unblocked", async () => {
    expect((await run("ips", "block", "2001:DB8:0:0::1")).code).toBe(0);
    await run("ips", "block", "192.0.2.0/24");
    expect(((await runJson("ips", "list")) as string[]).sort()).toEqual(["192.0.2.0/24", "2001:db8::1"]);
    expect((await run("ips", "unblock", "192.0.2.0/24")).code).toBe(0);
    expect(await runJson("ips", "list")).toEqual(["2001:db8::1"]);
  });

  test("threads are listed and shown by the id that the list prints", async () => {
    const listed = { id: "uid-1", threadId: "my-thread", createdAt: 1_000, state: "idle" };
    expect(await runJson("threads", "list", "bot", "ada")).toEqual([listed]);
    expect(await runJson("threads", "show", "bot", "uid-1")).toEqual({ ...listed, messages: [], runs: [] });
    expect((await run("threads", "show", "bot", "uid-2")).code).toBe(1);
  });

  test("a thread is shown by the caller's own id, with the user's", async () => {
    const shown = expect.objectContaining({ id: "uid-1", threadId: "my-thread" }) as unknown;
    for (const user of ["ada", "user-1"]) {
      expect(await runJson("threads", "show", "bot", "my-thread", "--user", user)).toEqual(shown);
    }
    expect((await run("threads", "show", "bot", "my-thread")).err).toContain("needs --user");
    expect((await run("threads", "show", "bot", "other", "--user", "ada")).err).toContain("user ada");
    expect((await run("threads", "show", "bot", "my-thread", "--user", "eve")).code).toBe(1);
  });
});
