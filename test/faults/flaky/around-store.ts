import type { Store } from "../../../src/store.ts";

/** The calls that change what is kept: those that a fault may hit before, in or after the change. */
export const CHANGES = [
  "mintVisitor",
  "admitUser",
  "addThread",
  "promote",
  "merge",
  "commit",
  "keepPart",
  "keepImages",
  "dropImages",
  "rate",
  "wait",
  "setCatalog",
] as const satisfies readonly (keyof Store)[];

export type Change = (typeof CHANGES)[number];

/** The store with something around its asynchronous calls: `around` is given the name, the call itself and what it was called with. */
export function aroundStore(
  store: Store,
  names: readonly (keyof Store)[],
  around: (name: keyof Store, call: () => Promise<unknown>, args: unknown[]) => Promise<unknown>,
): Store {
  const wrapped = new Map<string | symbol, unknown>();
  for (const name of names) {
    const original: unknown = store[name];
    if (typeof original !== "function") throw new Error(`Cannot wrap ${name}: it is no call`);
    wrapped.set(name, (...args: unknown[]) =>
      around(name, () => Promise.resolve(Reflect.apply(original, store, args)), args),
    );
  }
  return new Proxy(store, {
    get: (target, name) => wrapped.get(name) ?? Reflect.get(target, name),
  });
}
