import { useMemo, useState } from "preact/hooks";
import { ROW_HEIGHT, Waiting } from "../lists/paged-list.tsx";
import { VirtualList } from "../lists/virtual-list.tsx";
import { Empty } from "../parts/empty.tsx";
import { CheckField, SelectField } from "../parts/fields.tsx";
import { Trouble } from "../parts/trouble.tsx";
import type { ChannelView, PlacedThread } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { isChimeOn, setChime } from "./chime.ts";
import { EVERY, fitting, inGroups, shownIn } from "./inbox-state.ts";
import type { InboxThreads } from "./inbox-state.ts";
import { UNDER_WAY, useLiveThreads } from "./live-threads.ts";
import { Bulk } from "./bulk.tsx";
import { isNotifyOn, setNotify } from "./notify.ts";
import { GROUPS } from "./states.tsx";
import { ThreadRow } from "./thread-row.tsx";

/** Active and recent conversations, updated live. */
export function Inbox({ query }: { query: Readonly<Record<string, string>> }) {
  const { api, me, channels, events } = useConsole();
  const all = (channels ?? []).map(({ slug }) => slug);
  const only = all.find((slug) => slug === query["channel"]) ?? "";
  const [hasChime, turnChime] = useState(isChimeOn);
  const [hasNotices, turnNotices] = useState(isNotifyOn);
  const queues = queuesOf(channels ?? []);
  // Without a word in the address: those of the operator.
  const queue = [EVERY, ...queues].find((one) => one === query["queue"]) ?? "";
  const isShown = useMemo(() => shownIn(queue, me), [queue, me]);
  const show = (change: { channel?: string; queue?: string }) =>
    go(linkTo(["inbox"], { channel: only, queue, ...change }));
  const live = useLiveThreads(api, events, { slugs: only === "" ? all : [only], states: UNDER_WAY });
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
          <a
            class="button"
            href={linkTo(["channels", only || latestChannel(live.threads) || all[0] || "", "threads"])}
          >
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
          onChoose={(channel) => show({ channel })}
        />
        {queues.length > 0 && (
          <SelectField
            label="Queue"
            value={queue}
            choices={[
              ...(me.queues
                ? ([
                    ["", "Your queues"],
                    [EVERY, "Every queue"],
                  ] as const)
                : ([["", "Every queue"]] as const)),
              ...queues.map((name) => [name, name] as const),
            ]}
            onChoose={(chosen) => show({ queue: chosen })}
          />
        )}
        <CheckField label="Play a sound for a new conversation" checked={hasChime} onChange={turn} />
        {"Notification" in globalThis && (
          <CheckField
            label="Show a browser notification"
            checked={hasNotices}
            onChange={(isOn) => void setNotify(isOn).then(turnNotices)}
          />
        )}
        <p class="live" role="status">
          {live.note ?? (live.isLoading ? "" : "Live")}
        </p>
      </form>
      <Trouble text={live.trouble} />
      {live.isLoading && <Waiting />}
      {!live.isLoading && (
        <Threads
          threads={live.threads}
          isShown={isShown}
          reader={me.name}
          hasTrouble={live.trouble !== null}
        />
      )}
    </Titled>
  );
}

/** Rows of the list: a group's heading, or a conversation. */
type Row =
  | { type: "group"; name: string; hint: string; count: number }
  | { type: "thread"; thread: PlacedThread };

/** Of all channels that may be seen. */
function queuesOf(channels: readonly ChannelView[]): string[] {
  return [...new Set(channels.flatMap(({ handoff }) => handoff?.queues ?? []))];
}

/** Where somebody wrote last. */
function latestChannel(threads: InboxThreads): string | undefined {
  let latest: PlacedThread | undefined;
  for (const thread of threads.values()) if (!latest || latest.updatedAt < thread.updatedAt) latest = thread;
  return latest?.channel;
}

/** The conversations that the operator has chosen, by id. */
type Chosen = ReadonlySet<string>;

function Threads({
  threads: all,
  isShown,
  reader,
  hasTrouble,
}: {
  threads: InboxThreads;
  isShown: (thread: PlacedThread) => boolean;
  reader: string;
  hasTrouble: boolean;
}) {
  const { me } = useConsole();
  const [chosen, setChosen] = useState<Chosen>(new Set());
  const choose = (id: string) =>
    setChosen(
      (before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]),
    );
  const mayChoose = mayOf(me).readTexts;
  const grouped = useMemo(
    () => inGroups(all, GROUPS, ({ has }, thread) => has(thread, reader) && isShown(thread)),
    [all, reader, isShown],
  );
  const rows = grouped.flatMap(([{ name, hint }, threads]): Row[] => {
    if (threads.length === 0) return [];
    return [
      { type: "group", name, hint, count: threads.length },
      ...threads.map((thread): Row => ({ type: "thread", thread })),
    ];
  });
  if (rows.length === 0) {
    if (hasTrouble) return null;
    return (
      <Empty title="No messages yet.">
        <p>
          A conversation appears here by itself when somebody writes. The start of the service printed a demo
          page and a line to paste.
        </p>
      </Empty>
    );
  }
  return (
    <div class="list">
      <Bulk chosen={fitting(all, ({ id }) => chosen.has(id))} onDone={() => setChosen(new Set())} />
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
            <ChoosableRow
              thread={row.thread}
              tabIndex={tabIndex}
              isChosen={chosen.has(row.thread.id)}
              onChoose={mayChoose ? choose : null}
            />
          )
        }
      </VirtualList>
    </div>
  );
}

/** `onChoose`: by its mark, or by x; null: the operator may not. */
function ChoosableRow({
  thread,
  tabIndex,
  isChosen,
  onChoose,
}: {
  thread: PlacedThread;
  tabIndex: 0 | -1;
  isChosen: boolean;
  onChoose: ((id: string) => void) | null;
}) {
  if (onChoose === null) return <ThreadRow thread={thread} tabIndex={tabIndex} withChannel />;
  return (
    <div
      class="choosable"
      onKeyDown={(event) => {
        if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        onChoose(thread.id);
      }}
    >
      <ThreadRow thread={thread} tabIndex={tabIndex} withChannel />
      <input
        type="checkbox"
        aria-label="Choose it"
        tabIndex={-1}
        checked={isChosen}
        onChange={() => onChoose(thread.id)}
      />
    </div>
  );
}
