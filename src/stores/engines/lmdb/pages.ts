import { setImmediate as nextTurn } from "node:timers/promises";
import type { Engine, Member, Pair } from "../../engine.ts";
import * as layout from "./layout.ts";
import type { View } from "./view.ts";

/** Records of a page, and characters of their values. */
const PAGE = 200;
const PAGE_CHARS = 2 ** 20;

/**
 * Walks of any length. `viewNow` gives the file as it is to be read for the next page. Other work runs between two pages,
 * including what frees the memory of cursors outside the heap.
 */
export function pagesOf(viewNow: () => View): Pick<Engine, "hashPages" | "memberPages" | "keys"> {
  async function* recordPages(key: string): AsyncIterable<Pair[]> {
    let bounds = layout.recordsOf(key);
    for (;;) {
      const view = viewNow();
      if (view.hasEnded(key)) return;
      const { page, last } = pageOf(view, bounds);
      if (page.length > 0) yield page;
      if (last === null) return;
      bounds = { ...bounds, start: `${last}\0` };
      await nextTurn();
    }
  }

  return {
    async *hashPages(key) {
      if (!layout.isWhole(key)) return yield* recordPages(key);
      const pairs = viewNow().pairs(key);
      if (pairs.length > 0) yield pairs;
    },

    async *memberPages(key) {
      for await (const page of recordPages(key)) {
        yield page.map(([member, score]): Member => [member, Number(score)]);
      }
    },

    async *keys(prefix) {
      let bounds = layout.recordsFrom(prefix);
      for (;;) {
        const { page, last } = keysOf(viewNow(), prefix, bounds);
        if (page.length > 0) yield page;
        if (last === null) return;
        bounds = layout.recordsBehind(last);
        await nextTurn();
      }
    },
  };
}

/** `last`: the name of the last record, if there may be more. */
function pageOf(view: View, bounds: layout.Bounds): { page: Pair[]; last: string | null } {
  const page: Pair[] = [];
  let chars = 0;
  for (const { key: name, value } of view.walk(bounds)) {
    page.push(layout.unpacked(name, value));
    chars += value.length;
    if (page.length === PAGE || chars > PAGE_CHARS) return { page, last: name };
  }
  return { page, last: null };
}

function keysOf(view: View, prefix: string, from: layout.Bounds): { page: string[]; last: string | null } {
  const page: string[] = [];
  let bounds = from;
  let last: string | null = null;
  for (let nth = 0; nth < PAGE; nth++) {
    const [name] = view.names({ ...bounds, limit: 1 });
    if (name === undefined) return { page, last: null };
    last = layout.keyOfRecord(name);
    if (!last.startsWith(prefix)) return { page, last: null };
    if (!view.hasEnded(last)) page.push(last);
    bounds = layout.recordsBehind(last);
  }
  return { page, last };
}
