// For src/http/operator-api/, src/operators/
import { describe, expect, test } from "vitest";
import { hashKey } from "../../../src/keys.ts";
import { Secret } from "../../../src/secret.ts";
import { startOperated } from "./operators-service.ts";
import type { OperatedService } from "./operators-service.ts";

async function json(got: Promise<{ status: number; json(): Promise<unknown> }>, status: number) {
  const answer = await got;
  expect(answer.status).toBe(status);
  return (await answer.json()) as Record<string, unknown>;
}

async function audited({ store }: OperatedService): Promise<unknown[]> {
  const { items } = await store.audit({ limit: 100, after: null, sinceMs: 0 });
  return items
    .map(({ entry: { operator, action, target, slug } }) => [operator, action, target, slug])
    .reverse();
}

describe("operators", () => {
  test("an added one comes in at once, a rotated key and a removed operator do not", async () => {
    const service = await startOperated();
    const { as, ask } = service;
    const comesIn = async (key: unknown) =>
      (await ask({ path: "/v1/operator/me", headers: { authorization: `Bearer ${String(key)}` } })).status;

    const made = await json(as("admin", "POST", "/operators", { name: "Zoë", role: "agent" }), 201);
    expect(made).toEqual({
      name: "Zoë",
      role: "agent",
      channels: null,
      key: expect.stringMatching(/^op_[\w-]{43}$/) as unknown,
    });
    expect(await comesIn(made["key"])).toBe(200);
    expect((await as("admin", "POST", "/operators", { name: "Zoë", role: "admin" })).status).toBe(409);
    const rotated = await json(as("admin", "POST", "/operators/Zo%C3%AB/rotate"), 200);
    expect([await comesIn(made["key"]), await comesIn(rotated["key"])]).toEqual([401, 200]);
    expect((await as("admin", "DELETE", "/operators/Zo%C3%AB")).status).toBe(204);
    expect(await comesIn(rotated["key"])).toBe(401);
    expect((await as("admin", "DELETE", "/operators/Zo%C3%AB")).status).toBe(404);
    expect((await as("admin", "POST", "/operators/nobody/rotate")).status).toBe(404);
    expect(await audited(service)).toEqual([
      ["admin", "operators.add", "Zoë", null],
      ["admin", "operators.rotate", "Zoë", null],
      ["admin", "operators.remove", "Zoë", null],
    ]);
    expect(await (await as("admin", "GET", "/operators")).text()).not.toMatch(/op_|keyHash/);
    expect(service.logged.join("\n")).not.toContain(String(made["key"]));
  });

  test.each([
    [{ name: "x" }, "role"],
    [{ name: "x", role: "king" }, "role"],
    [{ name: "a/b", role: "admin" }, "name"],
    [{ name: "visitor", role: "admin" }, "name"],
    [{ name: "x", role: "admin", channels: [] }, "channels"],
    [{ name: "x", role: "admin", channels: ["Shop"] }, "channels.0"],
  ])("%j is 422", async (body, field) => {
    const { as } = await startOperated();
    const got = await as("admin", "POST", "/operators", body);
    expect([got.status, await got.text()]).toEqual([422, `The body does not match the schema: ${field}`]);
  });
});

test("A5, E1: an operator with a name like another's, or of a channel that is not there", async () => {
  const { as } = await startOperated();
  const add = async (body: object) => {
    const got = await as("admin", "POST", "/operators", body);
    return [got.status, await got.text()];
  };
  expect(await add({ name: "Shop-Admin", role: "agent" })).toEqual([
    409,
    "There is shop-admin, which looks like that",
  ]);
  const unknown = { name: "bo", role: "agent", channels: ["shop", "nowhere"] };
  expect(await add(unknown)).toEqual([422, "channels: there is no channel nowhere"]);
  expect((await (await as("admin", "GET", "/operators")).text()).includes('"bo"')).toBe(false);
});

describe("addresses", () => {
  test("are blocked in their normal spelling, once, and unblocked in any", async () => {
    const service = await startOperated();
    const { as } = service;
    expect(await json(as("admin", "POST", "/ips", { address: "2001:DB8:0::1" }), 201)).toEqual({
      address: "2001:db8::1",
    });
    expect((await as("admin", "POST", "/ips", { address: "2001:db8::1" })).status).toBe(409);
    await json(as("admin", "POST", "/ips", { address: "192.0.2.0/24" }), 201);
    expect((await json(as("auditor", "GET", "/ips"), 200))["items"]).toEqual([
      { address: "192.0.2.0/24" },
      { address: "2001:db8::1" },
    ]);
    expect((await as("admin", "DELETE", "/ips/192.0.2.0%2F24")).status).toBe(204);
    expect((await as("admin", "DELETE", "/ips/192.0.2.0%2F24")).status).toBe(404);
    expect((await as("admin", "DELETE", "/ips/2001:DB8::1")).status).toBe(204);
    for (const address of ["", "somewhere", "10.0.0.0/33", "1.2.3.4/5/6"])
      expect((await as("admin", "POST", "/ips", { address })).status).toBe(422);
    expect((await audited(service)).map((entry) => (entry as string[])[1])).toEqual([
      "ips.block",
      "ips.block",
      "ips.unblock",
      "ips.unblock",
    ]);
  });
});

describe("channels", () => {
  const server = {
    url: "https://orders.example/mcp",
    headers: { authorization: "Bearer canary-header" },
    identity: { key: "canary-identity" },
  };

  test("a web channel gets its keys, the secret one shown once; the same slug is 409", async () => {
    const service = await startOperated();
    const { as, store } = service;
    const body = { slug: "web", kind: "web", allowedOrigins: ["https://new.example"], agent: { model: "m" } };
    const made = await json(as("admin", "POST", "/channels", body), 201);
    expect(made).toEqual({
      ...body,
      publishableKey: expect.stringMatching(/^pk_/) as unknown,
      secretKey: expect.stringMatching(/^sk_/) as unknown,
      enabled: true,
      accessMode: "open",
    });
    const stored = await store.channel("web");
    expect(stored?.secretKeyHash).toBe(hashKey(new Secret(String(made["secretKey"]))));
    expect((await as("admin", "POST", "/channels", body)).status).toBe(409);
    const shown = await json(as("auditor", "GET", "/channels/web"), 200);
    expect(Object.keys(shown)).not.toContain("secretKey");
    const shared = { slug: "web2", kind: "web", publishableKey: made["publishableKey"] };
    expect((await as("admin", "POST", "/channels", shared)).status).toBe(409);
    const rotated = await json(as("admin", "POST", "/channels/web/rotate-keys"), 200);
    expect(rotated["publishableKey"]).not.toBe(made["publishableKey"]);
    expect((await store.channel("web"))?.secretKeyHash).toBe(
      hashKey(new Secret(String(rotated["secretKey"]))),
    );
    expect((await as("admin", "POST", "/channels/cli/rotate-keys")).status).toBe(409);
    const overlapping = { overlapHours: 24 };
    const again = await json(as("admin", "POST", "/channels/web/rotate-keys", overlapping), 200);
    expect(Object.keys(again)).not.toContain("olderKeys");
    expect((await store.channel("web"))?.olderKeys).toMatchObject([
      { publishableKey: rotated["publishableKey"] },
    ]);
    for (const overlapHours of [-1, 9_000, "24"])
      expect((await as("admin", "POST", "/channels/web/rotate-keys", { overlapHours })).status).toBe(422);
    expect(await audited(service)).toEqual([
      ["admin", "channels.create", "web", "web"],
      ["admin", "channels.rotate-keys", "web", "web"],
      ["admin", "channels.rotate-keys", "web", "web"],
    ]);
  });

  test("changes that are made at once are all kept, and new keys are the last ones", async () => {
    const { as, store } = await startOperated();
    const patch = (change: object) => as("admin", "PATCH", "/channels/shop", change);
    const [instructions, model, retention] = ["Be kind.", "m", { threadsDays: 7 }];
    const [rotated, ...patched] = await Promise.all([
      as("admin", "POST", "/channels/shop/rotate-keys"),
      patch({ agent: { instructions } }),
      patch({ agent: { model } }),
      patch({ retention }),
      patch({ accessMode: "whitelist" }),
    ]);
    expect(patched.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { secretKey, publishableKey } = await json(Promise.resolve(rotated), 200);
    expect(await store.channel("shop")).toMatchObject({
      agent: { instructions, model },
      retention,
      accessMode: "whitelist",
      publishableKey,
      secretKeyHash: hashKey(new Secret(String(secretKey))),
    });
  });

  test("of ten who make one at once, or block one address, one does: 201, the others are 409", async () => {
    const { as, store } = await startOperated();
    const ten = (make: (nth: number) => ReturnType<typeof as>) =>
      Promise.all(Array.from({ length: 10 }, (_, nth) => make(nth)));
    const made = await ten((nth) =>
      as("admin", "POST", "/channels", { slug: "web", kind: "web", agent: { model: `m${nth}` } }),
    );
    const first = made.findIndex(({ status }) => status === 201);
    expect(made.map(({ status }) => status)).toEqual(made.map((_, nth) => (nth === first ? 201 : 409)));
    expect((await store.channel("web"))?.agent).toEqual({ model: `m${first}` });
    const blocked = await ten(() => as("admin", "POST", "/ips", { address: "203.0.113.7" }));
    expect(blocked.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(blocked.filter(({ status }) => status === 409)).toHaveLength(9);
  });

  test("retention is written and shown, and {} takes it away", async () => {
    const { as } = await startOperated();
    const patch = (retention: object) => as("admin", "PATCH", "/channels/shop", { retention });
    const written = { threadsDays: 0.5, anonymousDays: 30 };
    expect(await json(patch(written), 200)).toMatchObject({ retention: written });
    expect(await json(as("auditor", "GET", "/channels/shop"), 200)).toMatchObject({ retention: written });
    for (const wrong of [{ threadsDays: 0 }, { anonymousDays: "30" }, { days: 3 }])
      expect((await patch(wrong)).status).toBe(422);
    expect(await json(patch({}), 200)).not.toHaveProperty("retention");
  });

  test("secrets are never shown, and a PATCH that leaves them out keeps them", async () => {
    const { as, store } = await startOperated();
    const before = (await store.channel("shop"))?.secretKeyHash;
    const oauth = { clientId: "c", clientSecret: "canary-client", issuer: "https://login.example" };
    const signedIn = { url: server.url, oauth };
    const agent = { instructions: "Help.", mcpServers: { orders: server, signedIn } };
    const patched = await (await as("admin", "PATCH", "/channels/shop", { agent })).text();
    const shown = await (await as("agent", "GET", "/channels/shop")).text();
    const listed = await (await as("auditor", "GET", "/channels")).text();
    for (const text of [patched, shown, listed]) expect(text).not.toMatch(/canary|secretKey/);
    expect(shown).toContain("[secret]");

    const kept = async () => (await store.channel("shop"))?.agent.mcpServers?.["orders"];
    for (const change of [
      { agent: { instructions: "Help more." } },
      { agent: { mcpServers: { orders: { url: server.url }, signedIn: { url: server.url } } } },
      { agent: (JSON.parse(shown) as { agent: object }).agent },
      { enabled: false },
    ]) {
      expect((await as("admin", "PATCH", "/channels/shop", change)).status).toBe(200);
      expect(await kept()).toEqual(server);
      expect((await store.channel("shop"))?.agent.mcpServers?.["signedIn"]).toEqual(signedIn);
    }
    const channel = await store.channel("shop");
    expect(channel).toMatchObject({ secretKeyHash: before, enabled: false });
    expect(channel?.agent.instructions).toBe("Help.");
  });

  test("null takes a setting or a server away, what is named anew replaces, other servers stay", async () => {
    const { as, store } = await startOperated();
    const agent = {
      instructions: "Help.",
      model: "m",
      mcpServers: { orders: server, other: { url: server.url } },
    };
    await as("admin", "PATCH", "/channels/shop", { agent });
    const change = { model: null, mcpServers: { other: null, orders: { url: server.url, headers: null } } };
    await json(as("admin", "PATCH", "/channels/shop", { agent: change }), 200);
    expect((await store.channel("shop"))?.agent).toEqual({
      instructions: "Help.",
      mcpServers: { orders: { url: server.url, identity: server.identity } },
    });
  });

  test.each([
    { colour: "red" },
    { slug: "other" },
    { allowedOrigins: ["null"] },
    { secretKey: "$NAME" },
    { agent: { temperature: 9 } },
    { agent: { mcpServers: { x: { command: "rm" } } } },
    { agent: { mcpServers: { x: { url: "https://a.b", headers: { key: "[secret]" } } } } },
    { agent: { mcpServers: { x: { url: "https://a.b", identity: { key: "[secret]" } } } } },
    // G11, G19
    { agent: { mcpServers: { x: { url: "http://127.0.0.1:9/mcp" } } } },
    { agent: { mcpServers: { x: { url: "http://localhost/mcp" } } } },
    { agent: { mcpServers: { x: { url: "http://169.254.169.254/mcp" } } } },
    {
      agent: {
        mcpServers: {
          x: { url: "https://a.b", oauth: { clientId: "a", clientSecret: "b", issuer: "http://10.0.0.1" } },
        },
      },
    },
  ])("PATCH %j is 422, and changes nothing", async (body) => {
    const { as, store } = await startOperated();
    const before = await store.channel("shop");
    expect((await as("admin", "PATCH", "/channels/shop", body)).status).toBe(422);
    expect(await store.channel("shop")).toEqual(before);
    expect((await as("admin", "PATCH", "/channels/nowhere", {})).status).toBe(404);
  });
});

describe("users", () => {
  async function withUsers() {
    const service = await startOperated();
    const { store } = service;
    for (const [nth, name] of ["Ada", "Bob", null].entries()) {
      await store.admitUser({
        slug: "shop",
        externalId: `team/${nth}`,
        displayName: name,
        attributes: { plan: "canary-plan" },
        newUserId: `u-${nth}`,
        thread: null,
        creates: true,
        atMs: nth,
      });
    }
    const visitor = { slug: "shop", tokenHash: "h", userId: "anon", snapshot: "", ttlMs: 9, atMs: 9 };
    await store.mintVisitor(visitor);
    const list = async (query: string, name = "agent") => {
      const { items } = await json(service.as(name, "GET", `/channels/shop/users?${query}`), 200);
      return (items as { userId: string }[]).map(({ userId }) => userId);
    };
    return { ...service, list };
  }

  test("are listed newest first, and found by id, name, block, and whether they are anonymous", async () => {
    const { list, store } = await withUsers();
    expect(await list("")).toEqual(["anon", "u-2", "u-1", "u-0"]);
    expect(await list("q=BOB")).toEqual(["u-1"]);
    expect(await list("q=team/")).toEqual(["u-2", "u-1", "u-0"]);
    expect(await list("q=team/0")).toEqual(["u-0"]);
    expect(await list("anonymous=true")).toEqual(["anon"]);
    expect(await list("anonymous=false")).toEqual(["u-2", "u-1", "u-0"]);
    await store.flagUser("shop", "u-1", { blocked: true });
    expect(await list("blocked=true")).toEqual(["u-1"]);
    expect(await list("blocked=false&anonymous=false")).toEqual(["u-2", "u-0"]);
  });

  test("pages of one, with and without a search, hold each once", async () => {
    const { as } = await withUsers();
    for (const query of ["", "&q=team", "&q=team/1"]) {
      const met: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const page = await json(as("agent", "GET", `/channels/shop/users?limit=1${query}${from}`), 200);
        met.push(...(page["items"] as { userId: string }[]).map(({ userId }) => userId));
        cursor = page["next"] as string | null;
      }
      const all = {
        "": ["anon", "u-2", "u-1", "u-0"],
        "&q=team": ["u-2", "u-1", "u-0"],
        "&q=team/1": ["u-1"],
      };
      expect(met).toEqual(all[query as keyof typeof all]);
    }
  });

  test("an auditor sees no name, and finds nobody by one", async () => {
    const { as, list } = await withUsers();
    expect(await list("q=Bob", "auditor")).toEqual([]);
    expect(await list("q=team/1", "auditor")).toEqual(["u-1"]);
    expect(await json(as("auditor", "GET", "/channels/shop/users/u-1"), 200)).toEqual({
      userId: "u-1",
      externalUserId: "team/1",
      blocked: false,
      whitelisted: false,
    });
    expect(await (await as("auditor", "GET", "/channels/shop/users")).text()).not.toMatch(
      /Ada|Bob|displayName|canary/,
    );
  });

  test("are changed by either id; the audit has ours, and no name", async () => {
    const service = await withUsers();
    const { as, store } = service;
    const change = { blocked: true, whitelisted: true, displayName: "Grace" };
    expect(await json(as("agent", "PATCH", "/channels/shop/users/team%2F1", change), 200)).toEqual({
      userId: "u-1",
      externalUserId: "team/1",
      attributes: { plan: "canary-plan" },
      ...change,
    });
    expect(await store.findUser("shop", "u-1")).toMatchObject(change);
    await json(as("admin", "PATCH", "/channels/shop/users/u-1", { blocked: false, displayName: null }), 200);
    expect(await store.findUser("shop", "u-1")).toMatchObject({ blocked: false, displayName: null });
    expect((await as("admin", "PATCH", "/channels/shop/users/nobody", { blocked: true })).status).toBe(404);
    expect((await as("admin", "PATCH", "/channels/shop/users/u-1", { blocked: "yes" })).status).toBe(422);
    expect((await as("admin", "GET", "/channels/nowhere/users")).status).toBe(404);
    expect(await audited(service)).toEqual([
      ["agent", "users.block", "u-1", "shop"],
      ["agent", "users.whitelist", "u-1", "shop"],
      ["agent", "users.rename", "u-1", "shop"],
      ["admin", "users.unblock", "u-1", "shop"],
      ["admin", "users.rename", "u-1", "shop"],
    ]);
    const { items } = await store.audit({ limit: 100, after: null, sinceMs: 0 });
    expect(JSON.stringify(items)).not.toMatch(/Grace|team/);
  });
});

test("origins are added and removed one by one, also by many at once", async () => {
  const { as } = await startOperated();
  const names = Array.from({ length: 6 }, (_, nth) => `https://${nth}.example`);
  const before = (await json(as("admin", "GET", "/channels/shop"), 200))["allowedOrigins"] as string[];
  const change = (body: object) => as("admin", "PATCH", "/channels/shop", body);
  await Promise.all(names.map((origin) => json(change({ addOrigins: [origin] }), 200)));
  const after = (await json(as("admin", "GET", "/channels/shop"), 200))["allowedOrigins"] as string[];
  expect(after.toSorted()).toEqual([...before, ...names].toSorted());
  const left = await json(change({ removeOrigins: names, addOrigins: ["https://new.example"] }), 200);
  expect(left["allowedOrigins"]).toEqual([...before, "https://new.example"]);
  const refused = await change({ removeOrigins: ["https://nowhere.example"] });
  expect([refused.status, await refused.text()]).toEqual([
    422,
    "Cannot remove origin https://nowhere.example: channel shop does not allow it",
  ]);
});

describe("lists", () => {
  test("users come newest first, or oldest first, page by page", async () => {
    const { as, store } = await startOperated();
    for (const nth of [1, 2, 3]) {
      const caller = { slug: "shop", externalId: `u${nth}`, displayName: null, newUserId: `id-${nth}` };
      await store.admitUser({ ...caller, thread: null, creates: true, atMs: nth });
    }
    const names = async (query: string) => {
      const found: unknown[] = [];
      for (let cursor = ""; ;) {
        const page = await json(as("admin", "GET", `/channels/shop/users?limit=2${query}${cursor}`), 200);
        found.push(...(page["items"] as { externalUserId: string }[]).map((one) => one.externalUserId));
        const next = page["next"] as string | null;
        if (next === null) return found;
        cursor = `&cursor=${next}`;
      }
    };
    expect(await names("")).toEqual(["u3", "u2", "u1"]);
    expect(await names("&order=newest")).toEqual(["u3", "u2", "u1"]);
    expect(await names("&order=oldest")).toEqual(["u1", "u2", "u3"]);
    expect((await as("admin", "GET", "/channels/shop/users?order=best")).status).toBe(422);
  });

  test.each(["limit=0", "limit=101", "limit=x", "limit=", "cursor=", "cursor=x", "cursor=dXNlcnM"])(
    "?%s is 422 on every one",
    async (query) => {
      const { as } = await startOperated();
      for (const path of ["/channels", "/channels/shop/users", "/ips", "/operators", "/audit"]) {
        const got = await as("admin", "GET", `${path}?${query}`);
        expect([path, got.status]).toEqual([path, 422]);
      }
    },
  );

  test("the audit is newest first, and filtered by time, operator and thread, page by page", async () => {
    const { as, store } = await startOperated();
    for (let nth = 0; nth < 6; nth++) {
      const operator = nth % 2 === 0 ? "ada" : "bob";
      const target = nth < 3 ? "t-1" : "t-2";
      await store.appendAudit({ atMs: 1_000 + nth, operator, action: "thread.read", target, slug: "shop" });
    }
    const times = async (query: string) => {
      const met: unknown[] = [];
      for (let cursor: string | null = null; ;) {
        const from: string = cursor === null ? "" : `&cursor=${cursor}`;
        const page = await json(as("auditor", "GET", `/audit?limit=2${query}${from}`), 200);
        met.push(...(page["items"] as { at: number }[]).map(({ at }) => at - 1_000));
        cursor = page["next"] as string | null;
        if (cursor === null) return met;
      }
    };
    expect(await times("")).toEqual([5, 4, 3, 2, 1, 0]);
    expect(await times("&since=1002")).toEqual([5, 4, 3, 2]);
    expect(await times("&operator=ada")).toEqual([4, 2, 0]);
    expect(await times("&thread=t-1")).toEqual([2, 1, 0]);
    expect(await times("&thread=t-1&operator=bob&since=1001")).toEqual([1]);
  });
});

describe("stopping and revoking", () => {
  /** A visitor whose run goes on, with a message that waits behind it. */
  async function talking() {
    const service = await startOperated();
    const token = await service.newToken();
    const headers = { "x-visitor-token": token };
    const threadId = await service.newThread(token);
    const say = (text: string) => service.post("/v1/widget/messages", { threadId, text }, { headers });
    const first = await say("One");
    await service.agent.turn();
    const second = await say("Two");
    const { items } = await service.store.usersPage("shop", { limit: 1, after: null, order: "newest first" });
    const userId = items[0]?.user.userId ?? "";
    return { ...service, say, first, second, userId };
  }

  test.each([
    ["a block", (userId: string) => `/channels/shop/users/${userId}`, { blocked: true }, "users.stop"],
    ["a channel that is disabled", () => "/channels/shop", { enabled: false }, "channels.stop"],
  ])("stop goes with %s: the run ends, and what waits behind it", async (_, path, change, action) => {
    const service = await talking();
    const { as, first, second, userId } = service;
    expect((await as("admin", "PATCH", path(userId), { stop: true })).status).toBe(422);
    const changed = await as("admin", "PATCH", path(userId), { ...change, stop: true });
    expect(changed.status).toBe(200);
    for (const stream of [first, second])
      expect((await stream.lines()).at(-1)).toMatchObject({ type: "error", code: "cancelled" });
    expect((await audited(service)).at(-1)).toEqual([
      "admin",
      action,
      path(userId).split("/").at(-1),
      "shop",
    ]);
  });

  test.each([
    ["a user", (userId: string) => `/channels/shop/users/${userId}/stop`, "users.stop"],
    ["a channel", () => "/channels/shop/stop", "channels.stop"],
  ])(
    "stopping %s alone says in how many threads there was a run, and blocks nobody",
    async (_, path, action) => {
      const service = await talking();
      const { as, first, second, say, userId } = service;
      expect(await json(as("admin", "POST", path(userId)), 200)).toEqual({ threads: 1 });
      for (const stream of [first, second])
        expect((await stream.lines()).at(-1)).toMatchObject({ type: "error", code: "cancelled" });
      expect(await json(as("admin", "POST", path(userId)), 200)).toEqual({ threads: 0 });
      expect((await say("Three")).status).toBe(200);
      expect((await audited(service)).map((entry) => (entry as string[])[1])).toEqual([action, action]);
    },
  );

  test("revoking ends all tokens of a user, and is in the audit", async () => {
    const service = await talking();
    const { as, say, userId } = service;
    const got = await as("agent", "POST", `/channels/shop/users/${userId}/revoke`);
    expect([got.status, await got.text()]).toEqual([204, ""]);
    expect((await say("Three")).status).toBe(401);
    expect((await as("agent", "POST", "/channels/shop/users/nobody/revoke")).status).toBe(404);
    expect(await audited(service)).toEqual([["agent", "users.revoke", userId, "shop"]]);
  });
});
