import { useEffect, useState } from "preact/hooks";
import { ROW_HEIGHT, Waiting } from "../lists/paged-list.tsx";
import { VirtualList } from "../lists/virtual-list.tsx";
import { Empty } from "../parts/empty.tsx";
import { CheckField, SelectField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import type { PlacedThread } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { chime, isChimeOn, setChime } from "./chime.ts";
import { inStates } from "./inbox-state.ts";
import type { InboxState } from "./inbox-state.ts";
import { useLiveThreads } from "./live-threads.ts";
import { GROUPS } from "./states.tsx";
import { ThreadRow } from "./thread-row.tsx";

/** Who is talking now, and who did lately; it changes by itself. */
export function Inbox({ query }: { query: Readonly<Record<string, string>> }) {
  const { api, channels, me } = useConsole();
  const all = (channels ?? []).map(({ slug }) => slug);
  const only = all.find((slug) => slug === query["channel"]) ?? "";
  const [hasChime, turnChime] = useState(isChimeOn);
  const live = useLiveThreads(api, only === "" ? all : [only], { hasFeed: mayOf(me).readTexts });
  const { state } = live;
  const fresh = state.fresh.size;
  useEffect(() => {
    if (fresh > 0 && hasChime) chime();
  }, [fresh]);
  useFreshInTitle(fresh, live.seen);
  const turn = (isOn: boolean) => {
    setChime(isOn);
    turnChime(isOn);
  };
  return (
    <Titled
      title="Inbox"
      fills
      actions={
        all.length > 0 && (
          <a class="button" href={linkTo(["channels", only === "" ? (all[0] ?? "") : only, "threads"])}>
            All conversations
          </a>
        )
      }
    >
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <SelectField
          label="Channel"
          value={only}
          choices={[["", "Every channel"], ...all.map((slug) => [slug, slug] as const)]}
          onChoose={(channel) => go(linkTo(["inbox"], { channel }))}
        />
        <CheckField label="A sound for a new conversation" checked={hasChime} onChange={turn} />
        <p class="live" role="status">
          {live.note ?? (live.isLoading ? "" : "Live")}
        </p>
      </form>
      <Trouble text={live.trouble} />
      {live.isLoading && <Waiting />}
      {!live.isLoading && <Threads state={state} hasTrouble={live.trouble !== null} />}
    </Titled>
  );
}

/** Rows of the list: a group's heading, or a conversation. */
type Row =
  | { type: "group"; name: string; hint: string; count: number }
  | { type: "thread"; thread: PlacedThread };

function Threads({ state, hasTrouble }: { state: InboxState; hasTrouble: boolean }) {
  const rows = GROUPS.flatMap(({ name, hint, states }): Row[] => {
    const threads = inStates(state, states);
    if (threads.length === 0) return [];
    return [
      { type: "group", name, hint, count: threads.length },
      ...threads.map((thread): Row => ({ type: "thread", thread })),
    ];
  });
  if (rows.length === 0) {
    if (hasTrouble) return null;
    return (
      <Empty title="Nobody has written yet.">
        <p>
          A conversation appears here by itself when somebody writes. The start of the service printed a demo
          page and a line to paste.
        </p>
      </Empty>
    );
  }
  return (
    <div class="list">
      <VirtualList
        items={rows}
        keyOf={(row) => (row.type === "group" ? `group ${row.name}` : row.thread.id)}
        label="Conversations"
        rowHeight={ROW_HEIGHT}
        mayFocus={(row) => row.type === "thread"}
      >
        {(row, tabIndex) =>
          row.type === "group" ? (
            <div class="group">
              <h2>
                {row.name} <span class="quiet">{row.count.toLocaleString()}</span>
              </h2>
              <p class="quiet">{row.hint}</p>
            </div>
          ) : (
            <ThreadRow thread={row.thread} tabIndex={tabIndex} withChannel />
          )
        }
      </VirtualList>
    </div>
  );
}

/** The tab says how many are new, until somebody looks. */
function useFreshInTitle(fresh: number, seen: () => void): void {
  useEffect(() => {
    document.title = `${fresh > 0 ? `(${fresh}) ` : ""}Inbox · Console`;
  }, [fresh]);
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && document.hasFocus() && seen();
    addEventListener("focus", look);
    addEventListener("pointerdown", look);
    addEventListener("keydown", look);
    return () => {
      removeEventListener("focus", look);
      removeEventListener("pointerdown", look);
      removeEventListener("keydown", look);
    };
  }, []);
}
