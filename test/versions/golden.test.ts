import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { identify, mintVisitor, sendMessage } from "./api.ts";
import { continueGolden } from "./continued.ts";
import type { Continued, Place } from "./continued.ts";
import { goOn, messagesAfter, pageOf, say, saidIn } from "./go-on.ts";
import { readGoldens } from "./golden.ts";
import type { Golden, ThreadFact, TokenFact } from "./golden.ts";

/** Starts of a service on a machine that others use, too. */
const START_MS = 180_000;

const places = readGoldens().flatMap((golden): { golden: Golden; place: Place }[] =>
  golden.store === "embedded"
    ? [{ golden, place: "embedded" }]
    : [
        { golden, place: "redis" },
        { golden, place: "cluster" },
      ],
);

/** What every released version has stored is read by this one, and each conversation goes on from where it stood (P8). */
describe.each(places)("$golden.version on $place", ({ golden, place }) => {
  const { facts } = golden;
  let continued: Continued;
  beforeAll(async () => {
    continued = await continueGolden(golden, place);
  }, START_MS);
  afterAll(() => continued.close());

  test("the command line shows of it what it showed then", () => {
    expect(continued.shown).toMatchObject(golden.shown);
  });

  const isLeft = ({ state, answers }: ThreadFact) => state === "awaiting" && answers === undefined;
  // At once: where runs cannot be taken up, each of them waits for its deadline.
  test.concurrent.each(facts.threads.filter((thread) => !isLeft(thread)))(
    "goes on: $name",
    async (thread) => {
      expect(await goOn(golden, continued, thread)).toMatchObject(messagesAfter(golden, thread));
    },
  );

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

  test(
    "the next day a call that nobody answered has expired, and daily budgets begin anew",
    async () => {
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
        await vi.waitFor(
          async () => {
            const end = await (await page?.follow(thread.threadId))?.end();
            expect(end?.at(-1)).toMatchObject({ type: "error", code: "expired" });
          },
          { timeout: 30_000 },
        );
      }
      for (const thread of [...left, ...overBudget]) {
        const end = await (await say(golden, continued, thread)).end();
        expect(saidIn(end)).toBe(`You said: ${facts.next}`);
      }
      for (const thread of left) {
        const { messages } = await continued.conversation(thread);
        expect(messages).toMatchObject(messagesAfter(golden, thread));
      }
    },
    START_MS,
  );
});

const DAY_MS = 86_400_000;

/** A second after the end of that UTC day. */
function nextDay(ms: number): number {
  return (Math.floor(ms / DAY_MS) + 1) * DAY_MS + 1_000;
}
