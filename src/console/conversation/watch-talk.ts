import { useEffect, useReducer, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import type { Api } from "../service/api.ts";
import { keepOpen } from "../service/live.ts";
import { messageOf } from "../service/problem.ts";
import type { MessageView } from "../service/views.ts";
import { NOTHING_SAID, withHistory, withLine } from "./talk-state.ts";
import type { TalkState, WatchLine } from "./talk-state.ts";

/** Messages of a page of the history. */
const PAGE = 50;

type Told =
  | { type: "history"; items: readonly MessageView[] }
  | { type: "line"; line: WatchLine }
  | { type: "forget" };

export interface Talk {
  talk: TalkState;
  isLoading: boolean;
  /** Are there earlier messages? */
  hasEarlier: boolean;
  earlier: () => Promise<void>;
  isLive: boolean;
  trouble: string | null;
}

/** A conversation: its newest messages, and from there on what happens. */
export function useTalk(api: Api, slug: string, id: string, isWanted: boolean): Talk {
  const [talk, tell] = useReducer(reduce, NOTHING_SAID);
  const [isLoading, setLoading] = useState(true);
  const [isLive, setLive] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const path = pathOf("channels", slug, "threads", id);

  const load = async (before: string | null, signal?: AbortSignal) => {
    const query = { limit: PAGE, before };
    const { items } = await api.get<{ items: MessageView[] }>(`${path}/messages`, query, signal);
    if (!signal?.aborted) tell({ type: "history", items });
    return items;
  };

  useEffect(() => {
    if (!isWanted) return;
    const watching = new AbortController();
    const { signal } = watching;
    tell({ type: "forget" });
    setTrouble(null);
    setLoading(true);
    const follow = async () => {
      let last = (await load(null, signal)).at(-1)?.id ?? "";
      setLoading(false);
      await keepOpen<WatchLine>(api, {
        path: `${path}/watch`,
        query: () => ({ after: last }),
        signal,
        onConnected: setLive,
        onLine(line) {
          if (line.type === "message") last = line.item.id;
          if (line.type === "reset")
            void load(null, signal).then((items) => (last = items.at(-1)?.id ?? last));
          tell({ type: "line", line });
        },
      });
    };
    follow().catch((error: unknown) => {
      if (signal.aborted) return;
      setLoading(false);
      setLive(false);
      setTrouble(messageOf(error));
    });
    return () => watching.abort();
  }, [path, isWanted]);

  const first = talk.messages[0];
  return {
    talk,
    isLoading: isLoading && isWanted,
    hasEarlier: first !== undefined && first.id !== "1",
    earlier: async () => {
      await load(first?.id ?? null).catch((error: unknown) => setTrouble(messageOf(error)));
    },
    isLive,
    trouble,
  };
}

function reduce(talk: TalkState, told: Told): TalkState {
  switch (told.type) {
    case "history":
      return withHistory(talk, told.items);
    case "line":
      return withLine(talk, told.line);
    case "forget":
      return NOTHING_SAID;
  }
}
