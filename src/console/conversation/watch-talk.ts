import { useEffect, useReducer, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import type { Api } from "../service/api.ts";
import { keepOpen } from "../service/keep-open.ts";
import { mayAskAgain } from "../service/may-ask-again.ts";
import { Problem, messageOf } from "../service/problem.ts";
import type { MessageView } from "../service/views.ts";
import { NOTHING_SAID, withHistory, withLine, withQuiet } from "./talk-state.ts";
import type { TalkState, WatchLine } from "./talk-state.ts";

/** Messages of a page of the history. */
const PAGE = 50;
/** How long a typing signal lasts. */
const TYPING_MS = 6_000;

type Told =
  | { type: "history"; items: readonly MessageView[] }
  | { type: "line"; line: WatchLine }
  | { type: "quiet" }
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

/** Loads the newest messages of a conversation, and then follows it. */
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
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const { signal } = watching;
    tell({ type: "forget" });
    setTrouble(null);
    setLoading(true);
    let isKnown = false;
    const newest = async (): Promise<readonly MessageView[]> => {
      for (;;) {
        try {
          return await load(null, signal);
        } catch (error) {
          if (signal.aborted) throw error;
          setTrouble(messageOf(error));
          if (!(await mayAskAgain(error, signal))) throw error;
        }
      }
    };
    const follow = async () => {
      const after = (await newest()).at(-1)?.id ?? "";
      isKnown = true;
      setTrouble(null);
      setLoading(false);
      await keepOpen<WatchLine>(api, {
        path: `${path}/watch`,
        after,
        signal,
        onConnected: setLive,
        onLine(line) {
          if (line.type === "reset") void load(null, signal);
          if (line.type === "typing") {
            clearTimeout(quiet);
            quiet = setTimeout(() => tell({ type: "quiet" }), TYPING_MS);
          }
          tell({ type: "line", line });
        },
      });
    };
    follow().catch((error: unknown) => {
      if (signal.aborted) return;
      setLoading(false);
      setLive(false);
      // It existed before: somebody deleted it while the watch was disconnected.
      if (isKnown && error instanceof Problem && error.status === 404)
        tell({ type: "line", line: { type: "deleted" } });
      else setTrouble(messageOf(error));
    });
    return () => {
      watching.abort();
      clearTimeout(quiet);
    };
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
    case "quiet":
      return withQuiet(talk);
    case "forget":
      return NOTHING_SAID;
  }
}
