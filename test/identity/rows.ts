import { describe, expect, it } from "vitest";
import { createVisitors } from "../../src/visitors/visitors.ts";
import { systemClock } from "../../src/clock.ts";
import { StoreUnavailable } from "../../src/store.ts";
import type { Store } from "../../src/store.ts";
import { ask, objectOf, terminalOf } from "../scenarios/page.ts";
import type { Answer } from "../scenarios/page.ts";
import { secretKeyOf, TRANSPORT, webChannel } from "../scenarios/houses.ts";
import type { House } from "../scenarios/houses.ts";
import { atOnce } from "../support/at-once.ts";
import { atLength } from "../support/lengths.ts";
import { clientOf } from "./channel-client.ts";
import { expiredToken } from "./expired-token.ts";

let channels = 0;

/** A channel of a test's own. */
async function openChannel(house: House) {
  const slug = `rows-${channels++}`;
  await house.putChannel(webChannel(slug));
  return clientOf(house, slug);
}

const identified = (got: Answer) => ({
  status: got.status,
  ...(got.status === 200 ? objectOf<{ userId: string; merged: boolean }>(got) : {}),
});

/** The rows of identify, each by its number. */
export function identifyRows(open: () => House): void {
  it("a new external id promotes in place; a repeat changes nothing; another id is 409", async () => {
    const client = await openChannel(open());
    const { token, userId } = await client.newVisitor();
    const promoted = { status: 200, userId, merged: false };
    expect(identified(await client.identify(token, "ada"))).toEqual(promoted);
    expect(identified(await client.identify(token, "ada"))).toEqual(promoted);
    expect(identified(await client.identify(token, "kim"))).toEqual({ status: 409 });
    expect((await open().store.users(client.slug)).map(({ externalId }) => externalId)).toEqual(["ada"]);
  });

  it("an account of the server API is merged into once; another id is 409", async () => {
    const client = await openChannel(open());
    await client.send("ada", "chat", "Hello", "Ada");
    const { userId } = objectOf<{ userId: string }>(await client.access("ada"));
    const { token } = await client.newVisitor();
    const threadId = await client.newThread(token);
    await client.say(token, threadId, "Hello from the page");
    expect(identified(await client.identify(token, "ada"))).toEqual({ status: 200, userId, merged: true });
    expect(identified(await client.identify(token, "ada"))).toEqual({ status: 200, userId, merged: false });
    expect(identified(await client.identify(token, "kim"))).toEqual({ status: 409 });
    expect(await open().store.users(client.slug)).toMatchObject([{ userId, displayName: "Ada" }]);

    // The conversation goes on from the backend, under the id that the page knows.
    expect((await client.send("ada", threadId, "Hello from the backend")).status).toBe(200);
    const { items } = objectOf<{ items: { content: string }[] }>(await client.history(token, threadId));
    expect(items.map(({ content }) => content)).toEqual([
      "Hello from the page",
      "You said: Hello from the page",
      "Hello from the backend",
      "You said: Hello from the backend",
    ]);
  });

  it("an unknown, expired or malformed token, or one of another channel, is 404", async () => {
    const house = open();
    const client = await openChannel(house);
    const foreign = await (await openChannel(house)).newVisitor();
    const tokens = [`vt_${client.slug}_${"A".repeat(43)}`, await expiredToken(house, client.slug), "", "vt_"];
    for (const token of [...tokens, foreign.token]) {
      expect((await client.identify(token, "ada")).status).toBe(404);
    }
    expect(await house.store.findUser(client.slug, "ada")).toBeNull();
  });

  it("the slug comes first (404), then the key (401); a transport's key and a transport channel are 401", async () => {
    const house = open();
    const client = await openChannel(house);
    const { token } = await client.newVisitor();
    const keyless = { publishableKey: null, secretKeyHash: null, allowedOrigins: [] };
    await house.putChannel(webChannel("bot", { kind: "transport", ...keyless }));
    const link = (slug: string, headers: Record<string, string>) =>
      ask(house.urls[0] ?? "", `/v1/channels/${slug}/identify`, {
        headers,
        body: { visitorToken: token, externalUserId: "ada" },
      });
    const right = { authorization: `Bearer ${secretKeyOf(client.slug)}` };
    const wrong = { authorization: "Bearer sk_wrong" };
    const statuses = [
      link("nowhere", wrong),
      link("nowhere", right),
      link(client.slug, wrong),
      link(client.slug, {}),
    ];
    statuses.push(link(client.slug, TRANSPORT), link("bot", right), link("bot", TRANSPORT));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([
      404, 404, 401, 401, 401, 401, 401,
    ]);
  });

  it("whichever side is blocked or whitelisted, the account is", async () => {
    const house = open();
    const client = await openChannel(house);
    const both = [false, true];
    for (const blocked of both.flatMap((left) => both.map((right) => [left, right] as const))) {
      for (const whitelisted of both.flatMap((left) => both.map((right) => [left, right] as const))) {
        const name = `account-${String(blocked)}-${String(whitelisted)}`;
        const { token, userId } = await client.newVisitor();
        const account = objectOf<{ userId: string }>(await client.access(name));
        const flags = (side: 0 | 1) => ({ blocked: blocked[side], whitelisted: whitelisted[side] });
        await house.store.flagUser(client.slug, userId, flags(0));
        await house.store.flagUser(client.slug, account.userId, flags(1));
        expect(identified(await client.identify(token, name))).toMatchObject({ merged: true });
        const merged = { blocked: blocked.includes(true), whitelisted: whitelisted.includes(true) };
        expect(await house.store.findUser(client.slug, name)).toMatchObject(merged);
        expect((await client.openThread(token)).status).toBe(merged.blocked ? 403 : 201);
      }
    }
  });

  describe.each([
    ["promoted", false],
    ["merged", true],
  ])("a visitor who is %s meanwhile", (_, hasAccount) => {
    async function visitWith(house: House) {
      const client = await openChannel(house);
      if (hasAccount) await client.access("ada");
      const { token } = await client.newVisitor();
      const threadId = await client.newThread(token);
      await client.register(token, threadId);
      const link = async () =>
        expect(identified(await client.identify(token, "ada"))).toMatchObject({
          status: 200,
          merged: hasAccount,
        });
      const contents = async () => {
        const account = await house.store.findUser(client.slug, "ada");
        const threads = await house.store.threads(client.slug, account?.userId ?? "");
        expect(threads.map(({ threadId }) => threadId)).toEqual([threadId]);
        const got = await client.history(token, threadId);
        return objectOf<{ items: { content: string }[] }>(got).items.map(({ content }) => content);
      };
      return { client, token, threadId, link, contents };
    }

    it("hears the running stream, and the waiting one, to their ends; both are the account's", async () => {
      const house = open();
      const { client, token, threadId, link, contents } = await visitWith(house);
      const running = client.say(token, threadId, "wait for me");
      await house.model.held();
      const waiting = client.say(token, threadId, "Me too");
      await expect.poll(async () => (await house.store.load(threadId, 1))?.waitingCount).toBe(1);
      await link();
      house.model.release();
      expect(terminalOf(await running).type).toBe("done");
      expect(terminalOf(await waiting).type).toBe("done");
      expect(await contents()).toEqual([
        "wait for me",
        "You said: wait for me",
        "Me too",
        "You said: Me too",
      ]);
    });

    it("answers the pending call with the same token, and the run ends in the account", async () => {
      const { client, token, threadId, link, contents } = await visitWith(open());
      const call = terminalOf(await client.say(token, threadId, "call the page"));
      await link();
      const resumed = await client.answer(token, threadId, call.type === "tool_call" ? call.callId : "");
      expect(terminalOf(resumed).type).toBe("done");
      expect(await contents()).toEqual(["call the page", "You said: call the page"]);
    });

    it("finds every message whose commit the identify met", async () => {
      const { client, token, threadId, link, contents } = await visitWith(open());
      const said = ["one", "two", "three", "four"];
      const streams = said.map((text) => client.say(token, threadId, text));
      await link();
      expect((await Promise.all(streams)).map((got) => terminalOf(got).type)).toEqual(said.map(() => "done"));
      const kept = await contents();
      expect(kept.toSorted()).toEqual(said.flatMap((text) => [text, `You said: ${text}`]).toSorted());
    });
  });

  it.each([0, 1, 30, atLength(10_000, 1_000)])(
    "%i threads move in one step, and all can be read",
    async (count) => {
      const house = open();
      const client = await openChannel(house);
      await client.send("ada", "chat", "Hello");
      const { token, userId } = await client.newVisitor();
      const names = Array.from({ length: count }, (_, n) => `thread-${n}`);
      // So many at once that none waits for its turn until the store's deadline.
      await atOnce(100, names, async (name) => {
        await house.store.addThread({
          slug: client.slug,
          userId,
          threadId: name,
          uid: `${client.slug}-${name}`,
          atMs: 1,
        });
      });
      house.commands.length = 0;
      expect(identified(await client.identify(token, "ada"))).toMatchObject({ status: 200, merged: true });
      const steps = house.commands.filter((name) => name === "merge");
      expect(steps).toEqual(house.site.name === "embedded" ? [] : ["merge"]);

      const account = await house.store.findUser(client.slug, "ada");
      const entries = await house.store.threads(client.slug, account?.userId ?? "");
      expect(entries.map(({ threadId }) => threadId).toSorted()).toEqual([...names, "chat"].toSorted());
      for (const name of names.filter((_, n) => n === 0 || n === count - 1)) {
        expect((await client.history(token, name)).status).toBe(200);
      }
    },
  );

  it("whose answer was lost asks again, and is told what is so", async () => {
    const house = open();
    const client = await openChannel(house);
    const { token, userId } = await client.newVisitor();
    const second = await client.newVisitor();
    const lossy = createVisitors({ store: deaf(house.store), clock: systemClock, ttlMs: 60_000 });
    const link = (visitorToken: string) =>
      lossy.identify({ slug: client.slug, visitorToken, externalId: "ada" });
    await expect(link(token)).rejects.toThrow(StoreUnavailable);
    expect(identified(await client.identify(token, "ada"))).toEqual({ status: 200, userId, merged: false });
    await expect(link(second.token)).rejects.toThrow(StoreUnavailable);
    expect(identified(await client.identify(second.token, "ada"))).toEqual({
      status: 200,
      userId,
      merged: false,
    });
    expect(await house.store.users(client.slug)).toHaveLength(1);
  });

  it.each([
    ["100 KB", "a".repeat(100_000)],
    ["257 characters", "a".repeat(257)],
    ["NUL", "a\u0000b"],
    ["a number", 7],
    ["nothing", ""],
    ["null", null],
  ])("an externalUserId of %s is 422", async (_, externalUserId) => {
    const house = open();
    const client = await openChannel(house);
    const { token } = await client.newVisitor();
    expect((await client.identify(token, externalUserId)).status).toBe(422);
    expect(await house.store.users(client.slug)).toMatchObject([{ externalId: null }]);
  });
}

/** The store, but whoever changes an identity never hears that it was done. */
function deaf(store: Store): Store {
  const lose = (what: string) => () => {
    throw new StoreUnavailable(what);
  };
  return {
    ...store,
    promote: (promotion) => store.promote(promotion).then(lose("promote")),
    merge: (merge) => store.merge(merge).then(lose("merge")),
  };
}
