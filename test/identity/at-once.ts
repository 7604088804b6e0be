import fc from "fast-check";
import { expect, it } from "vitest";
import { objectOf } from "../scenarios/page.ts";
import { webChannel } from "../scenarios/houses.ts";
import type { House } from "../scenarios/houses.ts";
import { clientOf } from "./channel-client.ts";
import type { ChannelClient } from "./channel-client.ts";
import { call, emptyTown, identify, talkOf, visit } from "./reference.ts";
import type { Town } from "./reference.ts";
import { randomRuns } from "../support/lengths.ts";

/** What somebody asks at the same moment as the others. `who`: one of the visitors. */
type Ask =
  | { type: "identify"; who: number; account: string }
  | { type: "access"; account: string }
  | { type: "block"; who: number }
  | { type: "open thread"; who: number };

const who = fc.nat({ max: 2 });
const account = fc.constantFrom("ada", "kim");
const someAsk: fc.Arbitrary<Ask> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("identify" as const), who, account }),
  },
  fc.record({ type: fc.constant("access" as const), account }),
  fc.record({ type: fc.constant("block" as const), who }),
  fc.record({ type: fc.constant("open thread" as const), who }),
);

/** P11, P12 at the same moment, over every instance: each outcome is one that some order would have had. */
export function itIsLinearizable(open: () => House, runs: number): void {
  it("P11, P12: what is asked at once is answered as in some order, and leaves what that order leaves", async () => {
    const house = open();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(someAsk, { minLength: 2, maxLength: 4 }),
        fc.boolean(),
        async (asks, hasKim) => {
          const slug = `at-once-${run++}`;
          await house.putChannel(webChannel(slug));
          const client = clientOf(house, slug);
          const town = await settle(client, hasKim);
          const answers = await Promise.all(asks.map((asked) => ask(house, client, town, asked)));
          const seen = { answers, people: await peopleOf(house, slug, town) };
          expect(ordersOf(asks).map((order) => playInOrder(town, asks, order))).toContainEqual(seen);
        },
      ),
      { numRuns: randomRuns(runs) },
    );
    expect(await house.faults()).toEqual([]);
  });
}

/** Three visitors, each with a thread, and perhaps an account. */
async function settle(client: ChannelClient, hasKim: boolean): Promise<Town> {
  const town = emptyTown();
  for (let n = 0; n < 3; n++) {
    const { token, userId } = await client.newVisitor();
    visit(town, token, userId);
    const person = town.people.at(-1);
    if (person !== undefined) talkOf(person, await client.newThread(token));
  }
  if (hasKim) call(town, "kim", objectOf<{ userId: string }>(await client.access("kim")).userId, null);
  return town;
}

async function ask(house: House, client: ChannelClient, town: Town, asked: Ask): Promise<object> {
  const token = ("who" in asked && town.tickets[asked.who]?.token) || "";
  switch (asked.type) {
    case "identify": {
      const got = await client.identify(token, asked.account);
      if (got.status !== 200) return { status: got.status };
      const { userId, merged } = objectOf<{ userId: string; merged: boolean }>(got);
      return { status: 200, userId: named(town, userId, asked.account), merged };
    }
    case "access": {
      const { userId, allowed } = objectOf<{ userId: string; allowed: boolean }>(
        await client.access(asked.account),
      );
      return { userId: named(town, userId, asked.account), allowed };
    }
    case "block": {
      const { userId } = personOf(town, asked.who);
      const user = await house.store.flagUser(client.slug, userId, { blocked: true });
      return { isBlocked: user?.blocked ?? false };
    }
    case "open thread":
      return { status: (await client.openThread(token)).status };
  }
}

function personOf(town: Town, index: number) {
  const person = town.tickets[index]?.person;
  if (person === undefined) throw new Error(`Cannot find visitor ${index}`);
  return person;
}

/** Of a user that was made meanwhile only the account is known before. */
function named(town: Town, userId: string, externalId: string): string {
  return town.people.some((person) => person.userId === userId) ? userId : `new ${externalId}`;
}

async function peopleOf({ store }: House, slug: string, town: Town): Promise<object[]> {
  const people = await Promise.all(
    (await store.users(slug)).map(async ({ userId, externalId, blocked }) => ({
      userId: named(town, userId, externalId ?? ""),
      externalId,
      blocked,
      threads: (await store.threads(slug, userId)).length,
    })),
  );
  return people.sort(byUserId);
}

/** The answers of one order, in the order of the asks, and the people it leaves. */
function playInOrder(before: Town, asks: readonly Ask[], order: readonly number[]) {
  const town = structuredClone(before);
  // Who is blocked is named as it was known when all was asked.
  const userIds = before.tickets.map(({ person }) => person.userId);
  const answers: object[] = [];
  for (const index of order) {
    const asked = asks[index];
    if (asked !== undefined) answers[index] = answer(town, asked, userIds);
  }
  const people = town.people.map(({ userId, externalId, blocked, talks }) => ({
    userId,
    externalId,
    blocked,
    threads: talks.length,
  }));
  return { answers, people: people.sort(byUserId) };
}

function answer(town: Town, asked: Ask, userIds: readonly string[]): object {
  switch (asked.type) {
    case "identify":
      return identify(town, town.tickets[asked.who]?.token ?? "", asked.account);
    case "access": {
      const { userId, blocked } = call(town, asked.account, `new ${asked.account}`, null);
      return { userId, allowed: !blocked };
    }
    case "block": {
      const person = town.people.find(({ userId }) => userId === userIds[asked.who]);
      if (person) person.blocked = true;
      return { isBlocked: person !== undefined };
    }
    case "open thread": {
      const person = personOf(town, asked.who);
      if (person.blocked) return { status: 403 };
      talkOf(person, `thread ${person.talks.length}`);
      return { status: 201 };
    }
  }
}

function byUserId(a: { userId: string }, b: { userId: string }): number {
  return a.userId < b.userId ? -1 : 1;
}

/** Every order of the asks, as lists of their places. */
function ordersOf(asks: readonly Ask[]): number[][] {
  const orders = (left: number[]): number[][] =>
    left.length === 0
      ? [[]]
      : left.flatMap((first) =>
          orders(left.filter((each) => each !== first)).map((rest) => [first, ...rest]),
        );
  return orders(asks.map((_, index) => index));
}
