// For src/http/console/sign-in.ts, src/openid/
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { CLIENT_ID, followTo, openProvider } from "../../support/servers/openid-provider.ts";
import type { TestProvider, TestProviderOptions } from "../../support/servers/openid-provider.ts";
import { addOperators } from "../operator-api/operators-service.ts";
import { startService } from "../service.ts";
import type { Got, Service } from "../service.ts";

const REDIRECT_URI = "https://chat.example/console";
const ADA = { sub: "s-1", preferred_username: "ada", roles: ["staff", "agent:shop"] };

let common: TestProvider | null = null;
let provider: TestProvider;

/** One provider for most tests: to make one takes longer than to use it. */
beforeEach(async () => {
  common ??= await openProvider({ redirectUri: REDIRECT_URI });
  provider = common;
  provider.person = ADA;
});

afterAll(() => common?.close());

async function providerOfItsOwn(options: Partial<TestProviderOptions> = {}): Promise<void> {
  provider = await openProvider({ redirectUri: REDIRECT_URI, ...options });
  provider.person = ADA;
  const mine = provider;
  onTestFinished(() => mine.close());
}

interface SignedIn {
  name: string;
  role: string;
  channels: string[] | null;
  key: string;
  endsAt: number;
}

async function started(env: Record<string, string> = {}) {
  const service = await startService({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_ROLES_CLAIM: "roles",
    ...env,
  });
  const post = (path: string, body: unknown, key?: string, headers: Record<string, string> = {}) =>
    service.ask({
      method: "POST",
      path: `/console${path}`,
      headers: {
        "content-type": "application/json",
        host: "chat.example",
        ...headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
    });
  const begin = async () => {
    const got = await post("/sign-in", { redirectUri: REDIRECT_URI });
    expect(got.status).toBe(200);
    return (await got.json()) as { url: string; flow: string };
  };
  /** Until the browser is back, and no further. */
  const walk = async () => {
    const { url, flow } = await begin();
    return { url, flow, answer: await followTo(REDIRECT_URI, url) };
  };
  const finish = (given: { flow: string; answer: string }) =>
    post("/sign-in/finish", { flow: given.flow, answer: given.answer });
  const signIn = async () => finish(await walk());
  const signedIn = async () => {
    const got = await signIn();
    const text = await got.text();
    expect([got.status, text]).toEqual([200, expect.stringContaining("op_")]);
    return JSON.parse(text) as SignedIn;
  };
  const ask = (key: string, path = "/me") =>
    service.ask({ path: `/v1/operator${path}`, headers: { authorization: `Bearer ${key}` } });
  return { ...service, post, begin, walk, finish, signIn, signedIn, askAs: ask };
}

async function audited({ store }: Pick<Service, "store">) {
  const { items } = await store.audit({ limit: 100, after: null, sinceMs: 0 });
  return items.map(({ entry: { operator, action, target, detail } }) => ({
    operator,
    action,
    target,
    detail,
  }));
}

describe("signing in by OpenID Connect", () => {
  test("makes an operator with the claim's role, and a key that opens the operator API", async () => {
    const service = await started();
    expect(await (await service.ask({ path: "/console/sign-in" })).json()).toEqual({ openId: true });
    const { url, flow, answer } = await service.walk();
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      client_id: CLIENT_ID,
      response_type: "code",
      redirect_uri: REDIRECT_URI,
      code_challenge_method: "S256",
      scope: "openid profile roles",
      state: expect.stringMatching(/.{40}/),
      nonce: expect.stringMatching(/.{40}/),
      code_challenge: expect.stringMatching(/.{40}/),
    });
    const got = await service.finish({ flow, answer });
    expect(got.status).toBe(200);
    const { key, endsAt, ...told } = (await got.json()) as SignedIn;
    const ada = { name: "ada", role: "agent", channels: ["shop"] };
    expect(told).toEqual(ada);
    expect(endsAt).toBe(service.clock.nowMs + 12 * 3_600_000);
    expect(await (await service.askAs(key)).json()).toEqual(ada);
    expect((await service.askAs(key, "/channels/other")).status).toBe(403);
    expect(await audited(service)).toEqual([
      {
        operator: "ada",
        action: "operators.sign-in",
        target: "ada",
        detail: { role: "agent", channels: ["shop"] },
      },
    ]);
    // Neither the key, nor what the provider gave, is stored or logged.
    const kept = JSON.stringify([await service.store.operators(), service.logged]);
    const code = new URLSearchParams(answer).get("code") ?? "";
    for (const secret of [key, code, flow.split(".")[1] ?? ""]) expect(kept).not.toContain(secret);
  });

  test.each([
    ["client_secret_basic", "in the ID token", false],
    ["client_secret_post", "in userinfo", true],
  ] as const)("with a secret (%s), and roles %s", async (method, _, conforms) => {
    const client = { token_endpoint_auth_method: method, client_secret: "secret-of-the-console" };
    await providerOfItsOwn({ conforms, client });
    const service = await started({ OIDC_CLIENT_SECRET: "secret-of-the-console" });
    expect(await service.signedIn()).toMatchObject({ name: "ada", role: "agent" });
    expect(JSON.stringify(service.logged)).not.toContain("secret-of-the-console");
  });

  test("finds roles where the claim's path leads", async () => {
    provider.person = { sub: "s-2", preferred_username: "bo", realm_access: { roles: ["auditor"] } };
    const service = await started({ OIDC_ROLES_CLAIM: "realm_access.roles" });
    expect(await service.signedIn()).toMatchObject({ name: "bo", role: "auditor", channels: null });
  });

  test("knows a person again by what the provider calls them, and not by a name", async () => {
    const service = await started();
    const first = await service.signedIn();
    provider.person = { ...ADA, preferred_username: "ada-married", roles: ["admin"] };
    const second = await service.signedIn();
    expect(second).toMatchObject({ name: "ada", role: "admin", channels: null });
    // Both tabs go on, with the role of now.
    for (const { key } of [first, second])
      expect(await (await service.askAs(key)).json()).toMatchObject({ name: "ada", role: "admin" });
    provider.person = { sub: "s-other", preferred_username: "ada", roles: ["admin"] };
    const refused = await service.signIn();
    expect([refused.status, await refused.text()]).toEqual([
      409,
      "There is another operator named ada, who does not sign in as you do. Ask an admin to remove it",
    ]);
  });

  test("gives nobody the name of an operator who has a key", async () => {
    const service = await started();
    await addOperators(service.store);
    provider.person = { sub: "s-3", preferred_username: "admin", roles: ["agent"] };
    expect((await service.signIn()).status).toBe(409);
    await service.renew();
    expect(await (await service.askAs("op_admin")).json()).toMatchObject({ name: "admin", role: "admin" });
  });

  test("tells who has no role so, and ends what they had", async () => {
    const service = await started();
    const { key } = await service.signedIn();
    provider.person = { ...ADA, roles: ["staff"] };
    const refused = await service.signIn();
    expect([refused.status, await refused.text()]).toEqual([
      403,
      "You are known as ada, and have no role here: the claim roles names none of admin, agent and auditor. Ask who manages your account",
    ]);
    expect((await service.askAs(key)).status).toBe(401);
    expect((await audited(service)).map(({ action }) => action)).toEqual([
      "operators.remove",
      "operators.sign-in",
    ]);
    provider.person = { sub: "s-9", preferred_username: "eve" };
    expect((await service.signIn()).status).toBe(403);
    expect(await service.store.operators()).toEqual([]);
  });

  test("ends by signing out, by time, by a new key, and by being removed", async () => {
    const service = await started();
    await addOperators(service.store);
    await service.renew();
    const [first, second, third, fourth] = [
      await service.signedIn(),
      await service.signedIn(),
      await service.signedIn(),
      await service.signedIn(),
    ];
    expect((await service.post("/sign-out", {}, first.key)).status).toBe(204);
    expect((await service.askAs(first.key)).status).toBe(401);
    expect((await service.askAs(second.key)).status).toBe(200);
    expect((await audited(service))[0]).toMatchObject({ operator: "ada", action: "operators.sign-out" });
    // An operator's own key is none that ends.
    expect((await service.post("/sign-out", {}, "op_admin")).status).toBe(204);
    expect((await service.askAs("op_admin")).status).toBe(200);
    expect((await service.post("/sign-out", {})).status).toBe(401);

    service.clock.nowMs += 12 * 3_600_000;
    expect((await service.askAs(second.key)).status).toBe(401);
    const late = await service.signedIn();
    const [{ signIn } = {}] = (await service.store.operators()).filter(({ name }) => name === "ada");
    expect(signIn?.sessions).toHaveLength(1);
    const admin = { headers: { authorization: "Bearer op_admin" } };
    await service.ask({ method: "POST", path: "/v1/operator/operators/ada/rotate", ...admin });
    expect((await service.askAs(late.key)).status).toBe(401);
    const last = await service.signedIn();
    await service.ask({ method: "DELETE", path: "/v1/operator/operators/ada", ...admin });
    for (const { key } of [third, fourth, last]) expect((await service.askAs(key)).status).toBe(401);
  });
});

describe("what signs nobody in", () => {
  const refusedText = "This sign-in did not begin in this tab, or too long ago: begin again";

  async function mustBeRefused(got: Got): Promise<void> {
    expect([got.status, await got.text()]).toEqual([422, refusedText]);
  }

  test("an answer of another state, a flow that was changed, one that is old: nobody is asked", async () => {
    const service = await started();
    const [mine, theirs] = [await service.walk(), await service.walk()];
    provider.asked.length = 0;
    // What a page of somebody else brings here: the answer to a sign-in of their own.
    await mustBeRefused(await service.finish({ flow: mine.flow, answer: theirs.answer }));
    await mustBeRefused(await service.finish({ flow: mine.flow, answer: "code=x" }));
    const [text = "", mac = ""] = mine.flow.split(".");
    const changed = { ...(JSON.parse(Buffer.from(text, "base64url").toString()) as object), nonce: "mine" };
    const forged = Buffer.from(JSON.stringify(changed)).toString("base64url");
    for (const flow of [`${forged}.${mac}`, `${text}.`, text, "", `${text}.${mac}x`])
      await mustBeRefused(await service.finish({ flow, answer: mine.answer }));
    service.clock.nowMs += 10 * 60_000;
    await mustBeRefused(await service.finish(mine));
    expect(provider.asked).toEqual([]);
    expect(await service.store.operators()).toEqual([]);
  });

  test("a code of another sign-in, a code used before, and a no of the provider", async () => {
    const service = await started();
    const [mine, theirs] = [await service.walk(), await service.walk()];
    const mixed = new URLSearchParams(mine.answer);
    mixed.set("code", new URLSearchParams(theirs.answer).get("code") ?? "");
    const injected = await service.finish({ flow: mine.flow, answer: mixed.toString() });
    expect([injected.status, await injected.text()]).toEqual([
      403,
      "The sign-in was refused (invalid_grant)",
    ]);
    expect((await service.finish(mine)).status).toBe(200);
    expect((await service.finish(mine)).status).toBe(403);
    provider.person = null;
    const denied = await service.signIn();
    expect([denied.status, await denied.text()]).toEqual([403, "The sign-in was refused (access_denied)"]);
  });

  test("an ID token for another nonce", async () => {
    const service = await started();
    const { url, flow } = await service.begin();
    const other = new URL(url);
    other.searchParams.set("nonce", "somebody-elses");
    const answer = await followTo(REDIRECT_URI, other.href);
    const got = await service.finish({ flow, answer });
    expect([got.status, await got.text()]).toEqual([403, "The sign-in was refused (invalid_token)"]);
  });

  test("a way back that is not the console's", async () => {
    const service = await started();
    for (const redirectUri of [
      "",
      "javascript:alert(1)",
      "https://chat.example/",
      "https://x.example/console?a=b",
    ])
      expect((await service.post("/sign-in", { redirectUri })).status).toBe(422);
    // G23: it is of the host that was asked, as the browser or the proxy in front says.
    const evil = { redirectUri: "https://evil.example/console" };
    const refused = await service.post("/sign-in", evil);
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("Host header")]);
    const behind = { host: "127.0.0.1:8080", "x-forwarded-host": "chat.example, inner.example" };
    const mine = await service.post("/sign-in", { redirectUri: REDIRECT_URI }, undefined, behind);
    expect(mine.status).toBe(200);
    // Whoever writes that header too is refused by the provider, unless it is registered there.
    const got = await service.post("/sign-in", evil, undefined, { host: "evil.example" });
    const { url } = (await got.json()) as { url: string };
    await expect(followTo("https://evil.example/console", url)).rejects.toThrow(/sends nowhere: 400/);
  });

  test("a provider that is away: 503, and the next one is tried anew", async () => {
    await providerOfItsOwn();
    const service = await started();
    const { port } = new URL(provider.issuer);
    await provider.close();
    const away = await service.post("/sign-in", { redirectUri: REDIRECT_URI });
    expect([away.status, await away.text()]).toEqual([503, ""]);
    expect(service.logged.join("\n")).toContain("cannot sign anybody in");
    const soon = await service.post("/sign-in", { redirectUri: REDIRECT_URI });
    expect(soon.status).toBe(503);
    service.clock.nowMs += 1_001;
    const again = await openProvider({ redirectUri: REDIRECT_URI, port: Number(port) });
    onTestFinished(() => again.close());
    provider.close = async () => {};
    again.person = ADA;
    expect(await service.signedIn()).toMatchObject({ name: "ada" });
  });

  test("G23: more than a hundred sign-ins a minute from one address; noise counts for nothing", async () => {
    const service = await started();
    for (let tried = 0; tried < 200; tried += 1) {
      expect((await service.post("/sign-in", {})).status).toBe(422);
      expect((await service.post("/sign-in/finish", { flow: "x", answer: "y" })).status).toBe(422);
    }
    expect((await service.signIn()).status).toBe(200);
    const { flow, answer } = await service.walk();
    const wrong = new URLSearchParams(answer);
    wrong.set("code", "guessed");
    for (let tried = 0; tried < 99; tried += 1) {
      expect((await service.finish({ flow, answer: wrong.toString() })).status).toBe(403);
    }
    const got = await service.finish({ flow, answer });
    expect(got.status).toBe(429);
    expect(Number(got.headers["retry-after"])).toBeGreaterThan(0);
    service.clock.nowMs += 60_000;
    expect((await service.signIn()).status).toBe(200);
  });

  test("O4: an ID token that is signed with the client's secret: told with which algorithm, and what to do", async () => {
    const client = {
      token_endpoint_auth_method: "client_secret_basic" as const,
      client_secret: "a-secret-of-more-than-thirty-two-bytes",
      id_token_signed_response_alg: "HS256" as const,
    };
    await providerOfItsOwn({ client });
    const service = await started({ OIDC_CLIENT_SECRET: client.client_secret });
    const got = await service.signIn();
    const told = "invalid_token: the provider signs with HS256. Set the signature of this client's ID tokens";
    expect([got.status, await got.text()]).toEqual([403, expect.stringContaining(told)]);
    expect(service.logged.join("\n")).toContain("the provider signs with HS256");
    expect(await service.store.operators()).toEqual([]);
  });

  test("A3, O1: a group whose name has a role in it", async () => {
    const service = await started();
    for (const roles of [
      "Shop admin",
      "insurance agent",
      "helpdesk,admin",
      ["Shop admin"],
      "admin auditor",
    ]) {
      provider.person = { ...ADA, roles };
      expect((await service.signIn()).status).toBe(403);
    }
    expect(await service.store.operators()).toEqual([]);
    const mapped = await started({ OIDC_ROLES: "Shop admin=agent:shop, insurance agent=auditor" });
    for (const [roles, role] of [
      ["Shop admin", "agent"],
      [["staff", "insurance agent"], "auditor"],
    ]) {
      provider.person = { ...ADA, roles };
      expect(await mapped.signedIn()).toMatchObject({ role });
    }
    // A word of ours is a group like any other then.
    provider.person = { ...ADA, roles: "admin" };
    const got = await mapped.signIn();
    expect([got.status, await got.text()]).toEqual([
      403,
      expect.stringContaining("the values of OIDC_ROLES"),
    ]);
  });

  test("a service without a provider", async () => {
    const service = await startService();
    expect(await (await service.ask({ path: "/console/sign-in" })).json()).toEqual({ openId: false });
    for (const path of ["/console/sign-in", "/console/sign-in/finish", "/console/sign-out"])
      expect([404, 405]).toContain((await service.ask({ method: "POST", path })).status);
    const off = await startService({ CONSOLE: "off" });
    expect((await off.ask({ path: "/console/sign-in" })).status).toBe(404);
  });
});
