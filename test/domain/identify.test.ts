import fc from "fast-check";
import { expect, test } from "vitest";
import { decideIdentity, mergeUsers } from "../../src/domain/identify.ts";
import type { User } from "../../src/domain/user.ts";

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
