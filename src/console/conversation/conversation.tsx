import { useEffect, useRef, useState } from "preact/hooks";
import { StateFlag } from "../inbox/states.tsx";
import { Machine } from "../machine/machine.tsx";
import { Empty } from "../parts/empty.tsx";
import { Question } from "../parts/question.tsx";
import { Time } from "../parts/times.tsx";
import { Trouble } from "../parts/trouble.tsx";
import type { ThreadState, UserView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { useKeys } from "../shell/shortcuts.ts";
import { Titled } from "../shell/titled.tsx";
import { whoOf } from "../inbox/who.ts";
import { Answer } from "./answer.tsx";
import { Approval } from "./approval.tsx";
import { Assign } from "./assign.tsx";
import { useChanges } from "./changes.ts";
import { DeleteConversation } from "./delete-conversation.tsx";
import { useDesk } from "./desk.ts";
import { Facts } from "./facts.tsx";
import { useHandOff } from "./hand-off.ts";
import { useKnown } from "./known.ts";
import { Labels } from "./labels.tsx";
import { Messages } from "./messages.tsx";
import { Notes } from "./notes.tsx";
import { Others } from "./others.tsx";
import { Snooze } from "./snooze.tsx";
import { openReply } from "./talk-state.ts";
import type { TalkState } from "./talk-state.ts";
import { useTalk } from "./watch-talk.ts";
import type { Talk } from "./watch-talk.ts";

/** Tabs by their name in the address. Where there is room, the facts are beside the messages. */
const PARTS = [
  ["talk", "Messages"],
  ["machine", "Machine"],
  ["facts", "About"],
] as const;

/** What a dialog asks about. */
type Asked = "take" | "assign" | "snooze" | "delete";

/** One conversation: the chat and its facts, or its machine. */
export function Conversation({
  slug,
  id,
  query,
}: {
  slug: string;
  id: string;
  query: Readonly<Record<string, string>>;
}) {
  const { api, me, channels, tell } = useConsole();
  const may = mayOf(me);
  const watched = useTalk(api, slug, id, may.readTexts);
  const { person } = watched.talk;
  const { thread, facts, user, change } = useKnown(slug, id, person);
  const handOff = useHandOff(slug, id, {
    seen: thread.value,
    lookAgain: thread.reload,
  });
  const channel = channels?.find((one) => one.slug === slug);
  const settings = channel?.handoff;
  const hasHandOff = settings?.enabled === true && may.readTexts;
  const parts = PARTS.filter(([name]) => may.readTexts || name !== "machine");
  const part = parts.find(([name]) => name === query["part"])?.[0] ?? "talk";
  const state = watched.talk.state ?? facts?.state ?? null;
  const own = me.displayName ?? me.name;
  const isMine = state === "with_person" && person !== null && "name" in person && person.name === own;
  const holder = state === "with_person" && person !== null && "name" in person ? person.name : null;
  const takenBy = useTakenBy(holder, own);
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const desk = useDesk(slug, id, thread.reload);
  const changes = useChanges(slug, id, { person, isWanted: may.readTexts });
  const summary = facts?.handoff?.summary ?? facts?.summary?.text ?? null;
  const named = user?.displayName ?? user?.externalUserId ?? null;
  const visitor = named ?? "Visitor";
  const title = named ?? (facts && whoOf(facts, { isWeb: channel?.kind !== "transport" })) ?? "Conversation";
  const takeOver = () => (holder === null ? void handOff.take(null) : setAsked("take"));
  const keepsDesk = may.readTexts && facts !== null && (facts.messages ?? 0) > 0;
  const page = useRef<HTMLDivElement>(null);
  useKeys({
    t: hasHandOff && !isMine && !handOff.isBusy ? takeOver : null,
    h: hasHandOff ? () => setAsked("assign") : null,
    s: !keepsDesk
      ? null
      : facts.snoozedUntil === undefined
        ? () => setAsked("snooze")
        : () => void desk.snooze(null),
    // In the machine it goes back to live.
    l:
      keepsDesk && part !== "machine"
        ? () => page.current?.querySelector<HTMLElement>(".labels input")?.focus()
        : null,
    n: keepsDesk ? () => page.current?.querySelector<HTMLElement>(".notes summary")?.click() : null,
  });
  const { isDeleted } = watched.talk;
  if (isDeleted && asked !== "delete") return <Deleted slug={slug} />;
  return (
    <Titled
      title={title}
      fills
      above={<Above slug={slug} />}
      actions={
        <>
          <State state={state} person={person} />
          {may.readTexts && <Live watched={watched} />}
          {hasHandOff && !isMine && (
            <button
              type="button"
              class="button main"
              disabled={handOff.isBusy}
              aria-keyshortcuts="t"
              onClick={takeOver}
            >
              Take over
            </button>
          )}
          {hasHandOff && (
            <button type="button" class="button" disabled={handOff.isBusy} onClick={() => setAsked("assign")}>
              Hand over…
            </button>
          )}
          {keepsDesk && (
            <SnoozeButton
              untilMs={facts.snoozedUntil ?? null}
              onSnooze={() => setAsked("snooze")}
              onWake={() => void desk.snooze(null)}
            />
          )}
        </>
      }
    >
      <Trouble text={watched.trouble ?? thread.trouble} />
      <Trouble text={change.trouble ?? desk.trouble ?? handOff.trouble} />
      {takenBy !== null && (
        <p class="taken" role="status">
          {takenBy} has taken this conversation over from you. What you had begun to write is kept.
        </p>
      )}
      {asked === "take" && holder !== null && (
        <Question
          title={`Take it from ${holder}?`}
          yes="Take it over"
          onYes={async () => {
            await handOff.take(holder);
            close();
          }}
          onClose={close}
        >
          <p>
            {holder} has this conversation, and may be writing at this moment. The visitor will see that you
            answer.
          </p>
        </Question>
      )}
      {asked === "assign" && (
        <Assign
          slug={slug}
          holder={holder}
          queues={isPersons(state) ? (settings?.queues ?? []) : []}
          handOff={handOff}
          onClose={close}
        />
      )}
      {asked === "snooze" && (
        <Snooze
          onChoose={(untilMs) => void desk.snooze(untilMs).then((done) => done && close())}
          onClose={close}
        />
      )}
      <nav class="parts" aria-label="Parts of the conversation">
        {parts.map(([name, text]) => (
          <a
            key={name}
            data-part={name}
            href={linkTo(["channels", slug, "threads", id], { part: name === "talk" ? null : name })}
            aria-current={part === name ? "page" : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      <div class="conversation" data-part={part} ref={page}>
        <section class="talk-part" aria-label="What was said">
          {may.readTexts ? (
            <>
              {summary !== null && (
                <details class="summary" open={matchMedia("(min-width: 700px)").matches}>
                  <summary>So far, in the assistant's words</summary>
                  <p dir="auto">{summary}</p>
                </details>
              )}
              <Messages
                watched={watched}
                changes={changes.items}
                visitor={visitor}
                reader={own}
                place={{ slug, id }}
              />
              <Approval slug={slug} id={id} lines={openReply(watched.talk)?.lines ?? []} />
              {isMine && (
                <Answer key={id} slug={slug} id={id} handOff={handOff} replies={settings?.replies ?? []} />
              )}
            </>
          ) : (
            <p class="words">Your role sees that this conversation happened, and not what was said in it.</p>
          )}
        </section>
        {part === "machine" && (
          <section class="machine-part" aria-label="Machine" tabIndex={0}>
            <Machine seen={watched.talk.seen} />
          </section>
        )}
        <section class="facts-part" aria-label="About">
          <h2>About</h2>
          {keepsDesk && (
            <>
              <Labels labels={facts.labels ?? []} onChange={desk.label} />
              <Notes key={id} slug={slug} id={id} />
            </>
          )}
          <Facts
            slug={slug}
            id={id}
            thread={facts}
            machine={watched.talk.seen.machine}
            user={user}
            changes={changes}
          />
          {user && <Others slug={slug} id={id} userId={user.userId} />}
          <WhatElse
            user={may.changeUsers ? user : null}
            onBlock={(blocked) => user && void change.send(user, { blocked })}
            readers={may.readAudit ? linkTo(["audit"], { thread: id }) : null}
            onDelete={facts && may.forget ? () => setAsked("delete") : null}
          />
        </section>
      </div>
      {asked === "delete" && (
        <DeleteConversation
          slug={slug}
          id={id}
          visitor={visitor}
          messages={watched.talk.seen.machine?.messages ?? facts?.messages ?? null}
          onClose={close}
          onDeleted={() => {
            tell("The conversation is deleted");
            // Replaced, so that going back does not lead to the deleted conversation.
            go(linkTo(["channels", slug, "threads"]), { replace: true });
          }}
        />
      )}
    </Titled>
  );
}

function Above({ slug }: { slug: string }) {
  return (
    <>
      <a href={linkTo(["inbox"])}>Inbox</a> / <a href={linkTo(["channels", slug, "threads"])}>{slug}</a>
    </>
  );
}

function Live({ watched: { isLive, isLoading } }: { watched: Talk }) {
  return (
    <span class="live" role="status">
      {isLive ? "Live" : isLoading ? "" : "Not live"}
    </span>
  );
}

/** `user`: may be blocked. `readers`: link to the audit of this conversation. Null: this operator may not. */
function WhatElse({
  user,
  onBlock,
  readers,
  onDelete,
}: {
  user: UserView | null;
  onBlock: (blocked: boolean) => void;
  readers: string | null;
  onDelete: (() => void) | null;
}) {
  return (
    <p class="actions">
      {user && (
        <button
          type="button"
          class={user.blocked ? "button small" : "button small bad"}
          onClick={() => onBlock(!user.blocked)}
        >
          {user.blocked ? "Unblock the user" : "Block the user"}
        </button>
      )}
      {readers !== null && <a href={readers}>Who read this conversation</a>}
      {onDelete && (
        <button type="button" class="button small bad" onClick={onDelete}>
          Delete the conversation
        </button>
      )}
    </p>
  );
}

function SnoozeButton({
  untilMs,
  onSnooze,
  onWake,
}: {
  untilMs: number | null;
  onSnooze: () => void;
  onWake: () => void;
}) {
  if (untilMs === null)
    return (
      <button type="button" class="button" onClick={onSnooze}>
        Snooze…
      </button>
    );
  return (
    <button type="button" class="button" onClick={onWake}>
      Snoozed until <Time at={untilMs} />: wake it
    </button>
  );
}

function isPersons(state: ThreadState | null): boolean {
  return state === "waiting_for_person" || state === "with_person";
}

/** Shown to an operator who has the conversation open when somebody deletes it. */
function Deleted({ slug }: { slug: string }) {
  return (
    <Titled title="Conversation">
      <Empty title="This conversation was deleted.">
        <a href={linkTo(["channels", slug, "threads"])}>To the conversations of {slug}</a>
      </Empty>
    </Titled>
  );
}

/** Who answers now, or since when the visitor waits for a person. */
function State({ state, person }: { state: ThreadState | null; person: TalkState["person"] }) {
  return (
    <>
      {state && <StateFlag state={state} />}
      {person && "name" in person && <span>{person.name}</span>}
      {person && "sinceMs" in person && (
        <span>
          since <Time at={person.sinceMs} />
        </span>
      )}
    </>
  );
}

/** Who has taken the conversation from the reader, while this page is open; null: nobody, or the reader has it again. */
function useTakenBy(holder: string | null, reader: string): string | null {
  const [taken, setTaken] = useState<{ from: string | null; by: string | null }>({ from: null, by: null });
  useEffect(() => {
    setTaken(({ from, by }) => {
      if (holder === reader) return { from: reader, by: null };
      if (holder === null) return { from: null, by };
      return { from: null, by: from === reader ? holder : by };
    });
  }, [holder, reader]);
  return taken.by;
}
