// For src/http/operator-api/
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDirectory } from "../../../src/admission/directory.ts";
import type { Directory } from "../../../src/admission/directory.ts";
import { systemClock } from "../../../src/clock.ts";
import type { Operator } from "../../../src/domain/people/operator.ts";
import { hashKey } from "../../../src/keys.ts";
import { addOperator, removeOperator, rotateOperator } from "../../../src/operators/accounts/operators.ts";
import { readAudit } from "../../../src/operators/read-audit.ts";
import { searchUsers } from "../../../src/operators/search-users.ts";
import type { UserSearch } from "../../../src/operators/search-users.ts";
import { Secret } from "../../../src/secret.ts";
import type { Store } from "../../../src/store.ts";
import { sampleChannel } from "../../stores/samples.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import type { TestDatabase } from "../../support/stores/store-kinds.ts";

describe.each(storeKinds)("operators on two instances of the $name store", ({ prepare }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await prepare();
  });
  afterAll(() => database.remove());

  let here: Store;
  let there: Store;
  let directory: Directory;
  beforeEach(async () => {
    await database.clear();
    [here, there] = [await database.open(), await database.open()];
    directory = createDirectory({ store: there, log: { warn() {} } });
    await directory.start();
    return async () => {
      directory.stop();
      await Promise.all([here.close(), there.close()]);
    };
  });

  const acting = () => ({ store: here, clock: systemClock, operator: "admin" });
  const seen = (key: Secret): Pick<Operator, "name" | "role"> | null => {
    const operator = directory.operatorOf(key.reveal());
    return operator && { name: operator.name, role: operator.role };
  };

  test("an added, rotated or removed key is in force on the other one, without a request there", async () => {
    const added = await addOperator(acting(), { name: "ada", role: "agent", channels: null });
    if (added.type !== "added") throw new Error("Cannot add ada");
    const { key } = added;
    await expect.poll(() => seen(key)).toEqual({ name: "ada", role: "agent" });
    const rotated = await rotateOperator(acting(), "ada");
    if (rotated === null) throw new Error("Cannot rotate ada");
    await expect.poll(() => seen(key)).toBeNull();
    expect(seen(rotated.key)).toEqual({ name: "ada", role: "agent" });
    expect(await removeOperator(acting(), "ada")).toBe(true);
    await expect.poll(() => seen(rotated.key)).toBeNull();
  });

  test("of twenty who add the same name at once, on both, one has a key that opens", async () => {
    const stores = Array.from({ length: 20 }, (_, nth) => (nth % 2 === 0 ? here : there));
    const keys = await Promise.all(
      stores.map((store) =>
        addOperator({ ...acting(), store }, { name: "ada", role: "admin", channels: null }),
      ),
    );
    const made = keys.flatMap((added) => (added.type === "added" ? [added.key] : []));
    expect(made).toHaveLength(1);
    const [listed] = await here.operators();
    expect(listed?.keyHash).toBe(hashKey(made[0] ?? new Secret("")));
  });

  test("what both write into the audit is there once, whoever reads", async () => {
    const targets = Array.from({ length: 40 }, (_, nth) => `t-${nth}`);
    await Promise.all(
      targets.map((target, nth) =>
        (nth % 2 === 0 ? here : there).appendAudit({
          atMs: 1_000 + (nth % 3),
          operator: "ada",
          action: "thread.read",
          target,
          slug: "shop",
        }),
      ),
    );
    const filter = { operator: "ada", target: null, channels: ["shop"] };
    const met: string[] = [];
    let after: string | null = null;
    do {
      const page = await readAudit(there, { limit: 7, after, sinceMs: 0 }, filter);
      met.push(...page.entries.map(({ target }) => target));
      after = page.next;
    } while (after !== null);
    expect(met.toSorted()).toEqual(targets.toSorted());
  });

  test("a search looks at some thousands of users at a time, and finds in the end who is at the end; by id, or among the blocked, at once", async () => {
    await here.putChannel(sampleChannel());
    const count = 2_450;
    const ids = Array.from({ length: count }, (_, nth) => nth);
    for (let from = 0; from < count; from += 250) {
      await Promise.all(
        ids.slice(from, from + 250).map((nth) =>
          here.mintVisitor({
            slug: "shop",
            tokenHash: `h${nth}`,
            userId: `user-${nth}`,
            snapshot: "",
            ttlMs: 3_600_000,
            atMs: nth + 1,
          }),
        ),
      );
    }
    await here.flagUser("shop", "user-0", { blocked: true });
    const search: UserSearch = { text: "ser-0", seesNames: true, blocked: null, anonymous: null };
    const page = { limit: 10, order: "newest first" } as const;
    const first = await searchUsers(there, "shop", { ...page, after: null }, search);
    expect(first.users).toEqual([]);
    if (first.next === null) throw new Error("Cannot go on: the search has ended");
    const second = await searchUsers(there, "shop", { ...page, after: first.next }, search);
    expect(second.users.map(({ userId }) => userId)).toEqual(["user-0"]);
    expect(second.next).toBeNull();
    for (const atOnce of [
      { ...search, text: "user-0" },
      { ...search, blocked: true },
    ]) {
      const found = await searchUsers(there, "shop", { ...page, after: null }, atOnce);
      expect(found.users.map(({ userId }) => userId)).toEqual(["user-0"]);
    }
  });
});
