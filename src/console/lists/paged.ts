import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { mayAskAgain } from "../service/may-ask-again.ts";
import { messageOf } from "../service/problem.ts";
import type { Page } from "../service/views.ts";

/** A list that is loaded page by page. */
export interface Paged<Item> {
  items: readonly Item[];
  /** True until the first page has arrived. */
  isNew: boolean;
  isLoading: boolean;
  hasMore: boolean;
  trouble: string | null;
  /** Requests the next page, unless it is being loaded. */
  more: () => void;
  reload: () => void;
  /** Changes the items shown, without a request. */
  change: (change: (items: readonly Item[]) => readonly Item[]) => void;
}

interface State<Item> {
  items: readonly Item[];
  next: string | null;
  status: "new" | "loading" | "rests";
  trouble: string | null;
}

/** A page may have fewer items than requested, even none, and a next page: at most this many are requested in a row. */
const EMPTY_PAGES = 20;

export function usePaged<Item>(
  load: (cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>,
  inputs: readonly unknown[],
): Paged<Item> {
  const fresh: State<Item> = { items: [], next: null, status: "new", trouble: null };
  const [state, setState] = useState<State<Item>>(fresh);
  const [round, setRound] = useState(0);
  const asking = useRef<AbortController | null>(null);
  const latest = useRef(state);
  latest.current = state;

  const ask = useCallback(async (from: string | null, before: readonly Item[]) => {
    asking.current?.abort();
    const request = new AbortController();
    asking.current = request;
    let [cursor, items] = [from, before];
    try {
      for (let page = 0; page < EMPTY_PAGES; page += 1) {
        const answer = await loadRef.current(cursor, request.signal);
        if (request.signal.aborted) return;
        items = [...items, ...answer.items];
        cursor = answer.next;
        if (cursor === null || items.length > before.length) break;
      }
      setState({ items, next: cursor, status: "rests", trouble: null });
    } catch (error) {
      if (request.signal.aborted) return;
      setState({ items: before, next: from, status: "rests", trouble: messageOf(error) });
      if (await mayAskAgain(error, request.signal)) void ask(from, before);
    }
  }, []);
  const loadRef = useRef(load);
  loadRef.current = load;

  useEffect(() => {
    setState(fresh);
    void ask(null, []);
    return () => asking.current?.abort();
  }, [JSON.stringify(inputs), round]);

  return {
    items: state.items,
    isNew: state.status === "new",
    isLoading: state.status !== "rests",
    hasMore: state.next !== null,
    trouble: state.trouble,
    more: () => {
      const { status, next, items } = latest.current;
      if (status !== "rests" || next === null) return;
      setState((now) => ({ ...now, status: "loading" }));
      void ask(next, items);
    },
    reload: () => setRound(round + 1),
    change: (change) => setState((now) => ({ ...now, items: change(now.items) })),
  };
}
