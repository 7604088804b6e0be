import type { Store } from "../../../src/store.ts";

/** A store whose commits can be held back: before they are made, or their answers after it. */
export interface GatedStore {
  store: Store;
  /** Holds back the next commit: `reached` resolves when it is asked for, `open` lets it go on. */
  holdNext(): { reached: Promise<void>; open: () => void };
}

export function gatedStore(inner: Store, held: "before" | "after" = "before"): GatedStore {
  const gates: { reach: () => void; opened: Promise<void> }[] = [];
  return {
    store: {
      ...inner,
      async commit(commit) {
        const gate = gates.shift();
        const result = held === "after" ? await inner.commit(commit) : null;
        gate?.reach();
        await gate?.opened;
        return result ?? inner.commit(commit);
      },
    },
    holdNext() {
      let open = () => {};
      let reach = () => {};
      const opened = new Promise<void>((resolve) => (open = resolve));
      const reached = new Promise<void>((resolve) => (reach = resolve));
      gates.push({ reach, opened });
      return { reached, open };
    },
  };
}
