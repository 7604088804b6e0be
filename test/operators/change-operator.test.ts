// For src/operators/accounts/
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Operator } from "../../src/domain/people/operator.ts";
import { systemClock } from "../../src/clock.ts";
import { hashKey } from "../../src/keys.ts";
import { addOperator, rotateOperator } from "../../src/operators/accounts/operators.ts";
import { signIn, signOut } from "../../src/operators/accounts/sign-in.ts";
import { Secret } from "../../src/secret.ts";
import type { Store } from "../../src/store.ts";
import { createReference } from "../stores/twin/reference.ts";

const clock = systemClock;
const ADA = { issuer: "https://login.example", subject: "s-1", name: "ada" };
const granted = { role: "agent", channels: null } as const;

/** Gives up the turn before each read and write, as often as `turns` says next: so what runs at once meets in any order. */
function interleaved(store: Store, turns: () => number): Store {
  const late =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      for (let left = turns(); left > 0; left -= 1) await Promise.resolve();
      return call(...args);
    };
  return {
    ...store,
    operators: late((...args) => store.operators(...args)),
    addOperator: late((...args) => store.addOperator(...args)),
    replaceOperator: late((...args) => store.replaceOperator(...args)),
  };
}

async function theOne(store: Store): Promise<Operator> {
  const [one] = await store.operators();
  if (one === undefined) throw new Error("there is no operator");
  return one;
}

async function opens(store: Store, key: Secret): Promise<boolean> {
  const { keyHash, signIn: its } = await theOne(store);
  return [keyHash, ...(its?.sessions ?? []).map((session) => session.keyHash)].includes(hashKey(key));
}

const turnsOf = fc.array(fc.nat({ max: 12 }), { minLength: 30, maxLength: 30 });

describe("G14: changes of one operator that are made at once", () => {
  test("a rotation beside sign-outs ends every session, and its key is the one that opens", async () => {
    await fc.assert(
      fc.asyncProperty(turnsOf, fc.nat({ max: 6 }), async (turns, nth) => {
        const plain = createReference(systemClock);
        const sessions = [];
        for (let made = 0; made < 4; made += 1) {
          const signedIn = await signIn({ store: plain, clock }, { ...ADA, granted });
          if (signedIn.type === "signed-in") sessions.push(signedIn.key);
        }
        const store = interleaved(plain, () => turns.shift() ?? 0);
        const acting = { store, clock, operator: "ada" };
        const outs = sessions.slice(0, nth % 4).map((key) => () => signOut(acting, key));
        const all = [...outs.slice(0, 1), () => rotateOperator(acting, "ada"), ...outs.slice(1)];
        const done = await Promise.all(all.map((change) => change()));
        const rotated = done.find((result) => result !== null && typeof result === "object");
        if (typeof rotated !== "object" || rotated === null) throw new Error("nothing was rotated");
        expect(await opens(plain, rotated.key)).toBe(true);
        for (const key of sessions) expect(await opens(plain, key)).toBe(false);
      }),
    );
  });

  test("of sign-ins at once each has a key that opens, also of the first ones", async () => {
    await fc.assert(
      fc.asyncProperty(turnsOf, fc.integer({ min: 2, max: 5 }), async (turns, many) => {
        const plain = createReference(systemClock);
        const store = interleaved(plain, () => turns.shift() ?? 0);
        const all = Array.from({ length: many }, () => signIn({ store, clock }, { ...ADA, granted }));
        for (const signedIn of await Promise.all(all)) {
          if (signedIn.type !== "signed-in") throw new Error(signedIn.type);
          expect(await opens(plain, signedIn.key)).toBe(true);
        }
        expect(await plain.operators()).toHaveLength(1);
      }),
    );
  });

  test("an operator who is removed meanwhile stays removed", async () => {
    const store = createReference(systemClock);
    const acting = { store, clock, operator: "local" };
    await addOperator(acting, { name: "bo", ...granted });
    const racing: Store = {
      ...store,
      async replaceOperator(operator, before) {
        await store.removeOperator(operator.name);
        return store.replaceOperator(operator, before);
      },
    };
    expect(await rotateOperator({ ...acting, store: racing }, "bo")).toBeNull();
    expect(await store.operators()).toEqual([]);
  });

  test("a change that loses each time rejects, and does not try for ever", async () => {
    const store = createReference(systemClock);
    const acting = { store, clock, operator: "local" };
    await addOperator(acting, { name: "bo", ...granted });
    const never: Store = { ...store, replaceOperator: () => Promise.resolve(false) };
    await expect(rotateOperator({ ...acting, store: never }, "bo")).rejects.toThrow("all the time");
  });
});
