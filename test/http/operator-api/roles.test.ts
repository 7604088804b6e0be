// For src/http/operator-api/, src/operators/accounts/
import { describe, expect, test } from "vitest";
import { threadHost } from "../../../src/charts/charts.ts";
import { sampleCommit, sampleMessage } from "../../stores/samples.ts";
import { OPERATORS, startOperated } from "./operators-service.ts";

type Who = "all" | "admin" | "admin, agent" | "admin, auditor";

/** The contract's table: who may; `installation`: nobody who is limited to channels. A good request, and what it answers. */
const ROUTES: [
  endpoint: string,
  who: Who,
  scope: "channels" | "installation",
  body: unknown,
  answer: number,
][] = [
  ["GET /me", "all", "channels", undefined, 200],
  ["GET /channels", "all", "channels", undefined, 200],
  ["GET /channels/shop", "all", "channels", undefined, 200],
  ["POST /channels", "admin", "installation", { slug: "new", kind: "transport" }, 201],
  ["PATCH /channels/shop", "admin", "channels", { enabled: true }, 200],
  ["POST /channels/shop/rotate-keys", "admin", "channels", undefined, 200],
  ["POST /channels/shop/stop", "admin", "channels", undefined, 200],
  ["GET /channels/shop/webhooks", "all", "channels", undefined, 200],
  // The channel has none.
  ["POST /channels/shop/webhooks/test", "admin", "channels", undefined, 404],
  ["POST /channels/shop/webhooks/replay", "admin", "channels", undefined, 404],
  ["POST /channels/shop/messenger/check", "admin", "channels", undefined, 404],
  ["GET /channels/shop/knowledge", "all", "channels", undefined, 200],
  // The channel has no documents, and what is on the disk only some may name.
  ["GET /channels/shop/knowledge/rules", "all", "channels", undefined, 404],
  ["POST /channels/shop/knowledge", "admin", "channels", { name: "rules", folder: "/rules" }, 422],
  ["DELETE /channels/shop/knowledge/rules", "admin", "channels", undefined, 404],
  ["POST /channels/shop/knowledge/sync", "admin", "channels", undefined, 202],
  ["POST /channels/shop/knowledge/search", "admin, agent", "channels", { query: "mug" }, 200],
  ["GET /channels/shop/users", "all", "channels", undefined, 200],
  ["GET /channels/shop/users/kim", "all", "channels", undefined, 200],
  ["PATCH /channels/shop/users/kim", "admin, agent", "channels", { blocked: true }, 200],
  ["POST /channels/shop/users/kim/revoke", "admin, agent", "channels", undefined, 204],
  ["POST /channels/shop/users/kim/stop", "admin, agent", "channels", undefined, 200],
  ["GET /channels/shop/threads", "all", "channels", undefined, 200],
  ["GET /channels/shop/threads/t-0", "all", "channels", undefined, 200],
  ["GET /channels/shop/threads/t-1/messages", "admin, agent", "channels", undefined, 200],
  ["GET /channels/shop/threads/t-1/files/no-file", "admin, agent", "channels", undefined, 404],
  ["GET /channels/shop/threads/t-1/runs", "admin, agent", "channels", undefined, 200],
  // The channel has no hand-off, and nobody has taken the thread.
  ["POST /channels/shop/threads/t-1/take", "admin, agent", "channels", { epoch: 0 }, 409],
  ["GET /channels/shop/operators", "admin, agent", "channels", undefined, 200],
  [
    "POST /channels/shop/threads/t-1/assign",
    "admin, agent",
    "channels",
    { epoch: 0, operator: "agent" },
    409,
  ],
  ["POST /channels/shop/threads/t-1/messages", "admin, agent", "channels", { epoch: 0, text: "Hi" }, 409],
  ["POST /channels/shop/threads/t-1/typing", "admin, agent", "channels", undefined, 409],
  ["POST /channels/shop/threads/t-1/return", "admin, agent", "channels", { epoch: 0 }, 409],
  ["POST /channels/shop/threads/t-1/close", "admin, agent", "channels", { epoch: 0 }, 409],
  [
    "POST /channels/shop/threads/t-1/approvals",
    "admin, agent",
    "channels",
    { callId: "c1", approved: true },
    409,
  ],
  ["POST /channels/shop/threads/t-1/notes", "admin, agent", "channels", { text: "Ask first" }, 201],
  ["GET /channels/shop/threads/t-1/handoffs", "admin, agent", "channels", undefined, 200],
  [
    "POST /channels/shop/threads/bulk",
    "admin, agent",
    "channels",
    { ids: ["t-1"], addLabels: ["refund"] },
    200,
  ],
  ["GET /channels/shop/threads/t-1/notes", "admin, agent", "channels", undefined, 200],
  ["PUT /channels/shop/threads/t-1/labels", "admin, agent", "channels", { labels: ["refund"] }, 204],
  ["POST /channels/shop/threads/t-1/snooze", "admin, agent", "channels", { until: null }, 204],
  ["POST /channels/shop/threads/t-1/draft", "admin, agent", "channels", undefined, 200],
  ["GET /channels/shop/threads/t-1/watch", "admin, agent", "channels", undefined, 200],
  ["DELETE /channels/shop/threads/t-1", "admin", "channels", undefined, 202],
  ["GET /channels/shop/users/kim/export", "admin", "channels", undefined, 200],
  ["GET /channels/shop/threads/t-0/export", "admin, agent", "channels", undefined, 200],
  ["DELETE /channels/shop/users/kim", "admin", "channels", undefined, 202],
  ["GET /ips", "all", "installation", undefined, 200],
  ["POST /ips", "admin", "installation", { address: "192.0.2.9" }, 201],
  ["DELETE /ips/192.0.2.8", "admin", "installation", undefined, 204],
  ["GET /operators", "admin", "installation", undefined, 200],
  ["POST /operators", "admin", "installation", { name: "new", role: "agent" }, 201],
  ["PATCH /operators/spare", "admin", "installation", { displayName: "Kim" }, 200],
  ["DELETE /operators/spare", "admin", "installation", undefined, 204],
  ["POST /operators/spare/rotate", "admin", "installation", undefined, 200],
  ["GET /events", "admin, agent", "channels", undefined, 200],
  ["GET /reports/people", "all", "channels", undefined, 200],
  ["GET /stats", "all", "channels", undefined, 200],
  ["GET /caps", "all", "channels", undefined, 200],
  ["GET /unreadable", "admin", "installation", undefined, 200],
  ["GET /audit", "admin, auditor", "channels", undefined, 200],
];

const rows = ROUTES.flatMap(([endpoint, who, scope, body, answer]) =>
  OPERATORS.map((operator) => {
    const isOne = who === "all" || who.split(", ").includes(operator.role);
    const mayNot = scope === "installation" && operator.channels !== null;
    return { endpoint, operator: operator.name, body, status: isOne && !mayNot ? answer : 403 };
  }),
);

async function prepared() {
  const service = await startOperated();
  const { store, renew } = service;
  await store.blockIp("192.0.2.8");
  await store.addOperator({ name: "spare", role: "agent", keyHash: "0".repeat(64), channels: null });
  const thread = { name: "order", newUid: "t-0" };
  const caller = { slug: "shop", externalId: "kim", displayName: "Kim", newUserId: "u-kim", thread };
  await store.admitUser({ ...caller, creates: true, atMs: 1 });
  await store.commit(
    sampleCommit({
      opId: "o-1",
      fence: "p:1",
      uid: "t-1",
      slug: "shop",
      messages: [sampleMessage(1)],
      state: "idle",
      holds: false,
      snapshot: threadHost.freeze(threadHost.initial()),
    }),
  );
  await renew();
  return service;
}

describe("roles", () => {
  test("the table has every endpoint, and tries each", async () => {
    const { routes } = await prepared();
    const own = routes.filter(({ path }) => path.startsWith("/v1/operator/"));
    const patterns = own.map(({ method, path }) => {
      const segments = path.slice("/v1/operator".length).replaceAll(/:\w+/g, "[^/]+");
      return new RegExp(`^${method} ${segments}$`);
    });
    const tried = ROUTES.map(([endpoint]) => [endpoint, patterns.filter((one) => one.test(endpoint)).length]);
    expect(tried.filter(([, routesOf]) => routesOf !== 1)).toEqual([]);
    const untried = patterns.filter((one) => !ROUTES.some(([endpoint]) => one.test(endpoint)));
    expect(untried.map(String)).toEqual([]);
  });

  test.each(rows)("$operator asks $endpoint: $status", async ({ endpoint, operator, body, status }) => {
    const { as, store } = await prepared();
    const [method = "", path = ""] = endpoint.split(" ");
    const before = await store.changeCount();
    const got = await as(operator, method, path, body);
    expect(got.status).toBe(status);
    if (status !== 403) return;
    expect(await got.text()).toBe("");
    expect(await store.changeCount()).toBe(before);
    expect((await store.audit({ limit: 1, after: null, sinceMs: 0 })).items).toEqual([]);
  });

  test.each(ROUTES)(
    "nobody asks %s without a key, nor with another key of the service",
    async (endpoint, ...row) => {
      const { as } = await prepared();
      const [method = "", path = ""] = endpoint.split(" ");
      for (const authorization of [
        null,
        "",
        "op_admin",
        "Bearer op_nobody",
        "Bearer transport-key-of-this-test",
      ]) {
        const got = await as("", method, path, row[2], {
          headers: {
            "content-type": "application/json",
            ...(authorization === null ? {} : { authorization }),
          },
        });
        expect([got.status, await got.text()]).toEqual([401, "Unauthorized"]);
        expect(Object.keys(got.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    },
  );

  test.each(ROUTES.filter(([endpoint]) => endpoint.includes("/channels/shop")))(
    "who is limited to another channel is refused %s, also where there is no such channel",
    async (endpoint, ...row) => {
      const { as } = await prepared();
      for (const slug of ["other", "nowhere"]) {
        const [method = "", path = ""] = endpoint.replace("/shop", `/${slug}`).split(" ");
        for (const { name } of OPERATORS.filter(({ channels }) => channels !== null)) {
          expect((await as(name, method, path, row[2])).status).toBe(403);
        }
      }
    },
  );

  test("who is limited to channels sees them in lists, in the audit, and in /me", async () => {
    const { as, store } = await prepared();
    const base = { atMs: 1, operator: "admin", action: "channels.update" };
    for (const slug of ["shop", "other", null]) await store.appendAudit({ ...base, target: "x", slug });
    const items = async (name: string, path: string) =>
      ((await (await as(name, "GET", path)).json()) as { items: Record<string, unknown>[] }).items;
    expect((await items("shop-agent", "/channels")).map(({ slug }) => slug)).toEqual(["shop"]);
    expect((await items("agent", "/channels")).map(({ slug }) => slug)).toEqual(["cli", "other", "shop"]);
    expect((await items("shop-auditor", "/audit")).map(({ detail }) => detail)).toEqual([
      { channel: "shop" },
    ]);
    expect(await items("auditor", "/audit")).toHaveLength(3);
    expect(await (await as("shop-admin", "GET", "/me")).json()).toEqual({
      name: "shop-admin",
      role: "admin",
      channels: ["shop"],
    });
    expect(await (await as("admin", "GET", "/me")).json()).toMatchObject({ channels: null });
  });
});

describe("wrong keys", () => {
  const me = { path: "/v1/operator/me" };
  const withKey = (key: string, address = "192.0.2.50") => ({
    ...me,
    address,
    headers: { authorization: `Bearer ${key}` },
  });

  test("G9: after a hundred of them within a minute a wrong one is 429, and a right one opens", async () => {
    const { ask, clock } = await startOperated();
    clock.nowMs = Math.ceil(clock.nowMs / 60_000) * 60_000;
    for (let nth = 0; nth < 100; nth++) {
      clock.nowMs += 100;
      expect((await ask(withKey(`op_wrong${nth}`))).status).toBe(401);
    }
    const refused = await ask(withKey("op_wrong"));
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "50"]);
    expect((await ask(withKey("op_admin"))).status).toBe(200);
    expect((await ask(withKey("op_wrong", "192.0.2.51"))).status).toBe(401);
    clock.nowMs += 50_000;
    expect((await ask(withKey("op_wrong"))).status).toBe(401);
  });

  test("right keys and requests without one are no wrong keys", async () => {
    const { ask, clock } = await startOperated();
    clock.nowMs = Math.ceil(clock.nowMs / 60_000) * 60_000;
    for (let nth = 0; nth < 99; nth++) expect((await ask(withKey("op_wrong"))).status).toBe(401);
    for (let nth = 0; nth < 5; nth++) {
      expect((await ask(withKey("op_admin"))).status).toBe(200);
      expect((await ask({ ...me, address: "192.0.2.50" })).status).toBe(401);
    }
    expect((await ask(withKey("op_wrong"))).status).toBe(401);
    expect((await ask(withKey("op_wrong"))).status).toBe(429);
  });
});

test("CONSOLE=off takes the API away, SWAGGER=off the reference", async () => {
  const off = await startOperated({ CONSOLE: "off" });
  expect(off.routes.filter(({ path }) => path.startsWith("/v1/operator"))).toEqual([]);
  expect((await off.ask({ path: "/swagger" })).status).toBe(200);
  const quiet = await startOperated({ SWAGGER: "off" });
  for (const path of ["/swagger", "/swagger/openapi.json"])
    expect((await quiet.ask({ path })).status).toBe(404);
  expect((await quiet.as("admin", "GET", "/me")).status).toBe(200);
});
