// For src/stores/, src/charts/, machines/versions.ts
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { identify, mintVisitor, readFileOf, sendMessage } from "../fleet/api.ts";
import { continueGolden } from "../fleet/continued.ts";
import type { Continued, Place } from "../fleet/continued.ts";
import { goOn, messagesAfter, nameOf, pageOf, saidIn, say } from "../fleet/go-on.ts";
import { readGoldens } from "./golden.ts";
import type { Shown, ThreadFact, TokenFact } from "./golden.ts";

/** In each project on the stores that it has; the records of one Redis are put on a cluster, too. */
const places = readGoldens().flatMap((golden) => {
  if (!inject("stores").includes(golden.store)) return [];
  const kinds: Place[] = golden.store === "redis" ? ["redis", "cluster"] : ["embedded"];
  return kinds.map((place) => ({ version: golden.version, golden, place }));
});

/** Far longer than any of them takes, and short enough where each of them waits for what never comes. */
const WAIT_MS = 60_000;

/** What every released version has stored is read by this one, and each conversation goes on from where it stood (P8). */
describe.each(places)("$version on $place", ({ golden, place }) => {
  const { facts } = golden;
  let continued: Continued;
  beforeAll(async () => {
    continued = await continueGolden(golden, place);
  });
  afterAll(() => continued.close());

  test("the command line shows of it what it showed then", () => {
    expect(inOrder(continued.shown)).toMatchObject(inOrder(withoutHeaderValues(golden.shown)));
  });

  const isLeft = ({ state, answers }: ThreadFact) => state === "awaiting" && answers === undefined;
  // Several at once: where runs cannot be taken up, each of them waits for its deadline.
  // What people answer is in hand-off.stores.test.ts.
  test.concurrent.each(facts.threads.filter((thread) => !isLeft(thread) && thread.epoch === undefined))(
    "goes on: $name",
    async (thread) => {
      expect(await goOn(golden, continued, thread)).toMatchObject(messagesAfter(golden, thread));
    },
    WAIT_MS,
  );

  const withFile = facts.threads.flatMap((thread) => (thread.file ? [{ ...thread, file: thread.file }] : []));
  test.each(withFile)("a file: $name", async ({ file, ...thread }) => {
    expect(await readFileOf(continued.backend, { ...nameOf(thread), fileId: file.id })).toBe(file.text);
  });

  test.each(facts.tokens)("a token: $name", async ({ token, state }) => {
    const opened = continued.page(token).openThread();
    if (state === "valid") expect(await opened).not.toBe("");
    else await expect(opened).rejects.toThrow(`answered ${state === "expired" ? 401 : 403}`);
  });

  test("visitors are identified, once and for one account", async () => {
    const bind = async ({ slug, token }: TokenFact, account: string) => {
      const secretKey = facts.channels[slug]?.secretKey ?? "";
      const asked = { slug, secretKey, visitorToken: token, externalUserId: account };
      const response = await identify(continued.backend.url, asked);
      return response.status === 200 ? await response.json() : response.status;
    };
    const bound = facts.tokens.filter(({ account, state }) => account !== null && state === "valid");
    expect(bound.length).toBeGreaterThan(0);
    for (const fact of bound) {
      expect(await bind(fact, fact.account ?? "")).toMatchObject({ merged: false });
      expect(await bind(fact, "somebody-else")).toBe(409);
    }

    const [first, second] = facts.tokens.filter(({ name }) => name.endsWith("spare"));
    const account = bound.find(({ slug }) => slug === second?.slug);
    if (!first || !second || !account) throw new Error("Cannot find two spare visitors and an account");
    expect(await bind(first, "newcomer")).toMatchObject({ merged: false });
    expect(await bind(second, account.account ?? "")).toMatchObject({ merged: true });
    const moved = facts.threads.find(({ speaker }) => "token" in speaker && speaker.token === second.name);
    const { items } = await continued.page(account.token).history(moved?.threadId ?? "");
    expect(items[0]?.content).toBe("Hello from another spare");
  });

  test("new visitors and users come into the old channels", async () => {
    const { url } = continued.backend;
    for (const { publishableKey } of Object.values(facts.channels)) {
      expect(await mintVisitor(url, facts.origin, publishableKey)).toMatch(/^vt_/);
    }
    const message = { channel: "bot", userId: "stranger", threadId: "new", text: "Hello" };
    const lines = await (await sendMessage(continued.backend, message)).end();
    expect(saidIn(lines)).toBe("You said: Hello");
  });

  test("blocked addresses are refused", async () => {
    const [{ token } = { token: "" }] = facts.tokens;
    const statuses = ["203.0.113.7", "198.51.100.9", "2001:db8:bad::1", "203.0.113.8"].map(
      async (address) => {
        const { status } = await continued.page(token).history("none", { "x-forwarded-for": address });
        return status;
      },
    );
    expect(await Promise.all(statuses)).toEqual([403, 403, 403, 404]);
  });

  test("the next day a call that nobody answered has expired, and daily budgets begin anew", async () => {
    const left = facts.threads.filter(isLeft);
    const overBudget = facts.threads.filter(({ reply }) =>
      reply?.startsWith("You have reached today's limit"),
    );
    expect([left.length, overBudget.length]).toEqual([1, 1]);
    // From now on their tokens live for a day.
    for (const thread of left) await pageOf(golden, continued, thread)?.history(thread.threadId);
    await continued.restart(nextDay(facts.takenAtMs));

    for (const thread of left) {
      const page = pageOf(golden, continued, thread);
      const end = async () => (await (await page?.follow(thread.threadId))?.end())?.at(-1);
      await expect.poll(end).toMatchObject({ type: "error", code: "expired" });
    }
    for (const thread of [...left, ...overBudget]) {
      const lines = await (await say(golden, continued, thread)).end();
      expect(saidIn(lines)).toBe(`You said: ${facts.next}`);
    }
    for (const thread of left) {
      const { messages } = await continued.conversation(thread);
      expect(messages).toMatchObject(messagesAfter(golden, thread));
    }
  });
});

/** Addresses in any order: none is promised. */
function inOrder(shown: Shown[]): Shown[] {
  return shown.map((one) =>
    one.command[0] === "ips" ? { ...one, printed: (one.printed as string[]).toSorted() } : one,
  );
}

/** The one thing that 0.1.0 showed and no later version does. */
function withoutHeaderValues(shown: Shown[]): Shown[] {
  const hide = (headers: object) =>
    Object.fromEntries(Object.keys(headers).map((name) => [name, "[secret]"]));
  const text = JSON.stringify(shown, (key, value: unknown) =>
    key === "headers" && typeof value === "object" && value !== null ? hide(value) : value,
  );
  return JSON.parse(text) as Shown[];
}

const DAY_MS = 86_400_000;

/** A second after the end of that UTC day. */
function nextDay(ms: number): number {
  return (Math.floor(ms / DAY_MS) + 1) * DAY_MS + 1_000;
}
