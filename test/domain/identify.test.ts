// For src/domain/people/identify.ts, src/domain/people/attributes.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { decideIdentity, mergeUsers } from "../../src/domain/people/identify.ts";
import { MAX_ATTRIBUTES_CHARS } from "../../src/domain/people/attributes.ts";
import type { User } from "../../src/domain/people/user.ts";

const user = (changes: Partial<User> = {}): User => ({
  userId: "u1",
  externalId: null,
  displayName: null,
  blocked: false,
  whitelisted: false,
  ...changes,
});
const account = user({ userId: "u2", externalId: "acc" });

test("without an account the visitor becomes it (rule 1)", () => {
  const decision = decideIdentity({ user: user(), boundTo: null, externalId: "acc", account: null });
  expect(decision).toEqual({ type: "promote" });
});

test("with an account the visitor is merged into it (rule 2)", () => {
  expect(decideIdentity({ user: user(), boundTo: null, externalId: "acc", account })).toEqual({
    type: "merge",
    into: account,
    result: account,
  });
});

test("a bound token keeps its account, and conflicts with any other (rule 3)", () => {
  const bound = { user: account, boundTo: "acc", account };
  expect(decideIdentity({ ...bound, externalId: "acc" })).toEqual({ type: "keep", userId: "u2" });
  expect(decideIdentity({ ...bound, externalId: "other", account: null })).toEqual({ type: "conflict" });
});

test("for all users, a merge keeps a block and a whitelisting of either side, and the account's name first", () => {
  const flags = { blocked: fc.boolean(), whitelisted: fc.boolean(), displayName: fc.option(fc.string()) };
  fc.assert(
    fc.property(fc.record(flags), fc.record(flags), (mine, theirs) => {
      const merged = mergeUsers({ ...account, ...mine }, user(theirs));
      expect(merged).toEqual({
        userId: "u2",
        externalId: "acc",
        displayName: mine.displayName ?? theirs.displayName,
        blocked: mine.blocked || theirs.blocked,
        whitelisted: mine.whitelisted || theirs.whitelisted,
      });
    }),
  );
});

test("a merge keeps what the site knows of both sides, and what it knows of the account first", () => {
  const merged = (own: User["attributes"], theirs: User["attributes"]) =>
    mergeUsers(
      { ...account, ...(own && { attributes: own }) },
      { ...user(), ...(theirs && { attributes: theirs }) },
    );
  expect(merged(undefined, undefined)).not.toHaveProperty("attributes");
  expect(merged(undefined, { plan: "free" }).attributes).toEqual({ plan: "free" });
  expect(merged({ plan: "pro" }, undefined).attributes).toEqual({ plan: "pro" });
  expect(merged({ plan: "pro" }, { plan: "free", seats: 2 }).attributes).toEqual({ plan: "pro", seats: 2 });
  const long = { note: "x".repeat(MAX_ATTRIBUTES_CHARS - 20) };
  expect(merged({ plan: "pro", team: "the long one" }, long).attributes).toEqual({
    plan: "pro",
    team: "the long one",
  });
});
