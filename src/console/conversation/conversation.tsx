import { useEffect, useState } from "preact/hooks";
import { StateFlag } from "../inbox/states.tsx";
import { Machine } from "../machine/machine.tsx";
import { Empty } from "../parts/empty.tsx";
import { Question } from "../parts/question.tsx";
import { Time } from "../parts/times.tsx";
import { Trouble } from "../parts/trouble.tsx";
import type { ThreadState, UserView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { nameOf } from "../users/names.tsx";
import { Answer } from "./answer.tsx";
import { DeleteConversation } from "./delete-conversation.tsx";
import { Facts } from "./facts.tsx";
import { useHandOff } from "./hand-off.ts";
import { useKnown } from "./known.ts";
import { Messages } from "./messages.tsx";
import type { TalkState } from "./talk-state.ts";
import { useTalk } from "./watch-talk.ts";
import type { Talk } from "./watch-talk.ts";

/** Tabs by their name in the address. Where there is room, the facts are beside the messages. */
const PARTS = [
  ["talk", "Messages"],
  ["machine", "Machine"],
  ["facts", "About"],
] as const;

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
    seenEpoch: thread.value?.epoch ?? null,
    lookAgain: thread.reload,
  });
  const settings = channels?.find((one) => one.slug === slug)?.handoff;
  const hasHandOff = settings?.enabled === true && may.readTexts;
  const parts = PARTS.filter(([name]) => may.readTexts || name !== "machine");
  const part = parts.find(([name]) => name === query["part"])?.[0] ?? "talk";
  const state = watched.talk.state ?? facts?.state ?? null;
  const isMine = state === "with_person" && person !== null && "name" in person && person.name === me.name;
  const holder = state === "with_person" && person !== null && "name" in person ? person.name : null;
  const takenBy = useTakenBy(holder, me.name);
  const [asksTaking, setAsksTaking] = useState(false);
  const visitor = user ? nameOf(user) : "Visitor";
  const { isDeleted } = watched.talk;
  const [asksDeletion, setAsksDeletion] = useState(false);
  if (isDeleted && !asksDeletion) return <Deleted slug={slug} />;
  return (
    <Titled
      title="Conversation"
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
              onClick={() => (holder === null ? void handOff.take(null) : setAsksTaking(true))}
            >
              Take over
            </button>
          )}
          {user && may.changeUsers && (
            <BlockUser user={user} onChange={(blocked) => void change.send(user, { blocked })} />
          )}
        </>
      }
    >
      <Trouble text={watched.trouble ?? thread.trouble} />
      <Trouble text={change.trouble ?? handOff.trouble} />
      {takenBy !== null && (
        <p class="taken" role="status">
          {takenBy} has taken this conversation over from you. What you had begun to write is kept.
        </p>
      )}
      {asksTaking && holder !== null && (
        <Question
          title={`Take it from ${holder}?`}
          yes="Take it over"
          onYes={async () => {
            await handOff.take(holder);
            setAsksTaking(false);
          }}
          onClose={() => setAsksTaking(false)}
        >
          <p>
            {holder} has this conversation, and may be writing at this moment. The visitor will see that you
            answer.
          </p>
        </Question>
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
      <div class="conversation" data-part={part}>
        <section class="talk-part" aria-label="What was said">
          {may.readTexts ? (
            <>
              <Messages watched={watched} visitor={visitor} reader={me.name} />
              {isMine && <Answer key={id} id={id} handOff={handOff} replies={settings?.replies ?? []} />}
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
          <Facts slug={slug} id={id} thread={facts} machine={watched.talk.seen.machine} user={user} />
          <WhatElse
            readers={may.readAudit ? linkTo(["audit"], { thread: id }) : null}
            onDelete={facts && may.forget ? () => setAsksDeletion(true) : null}
          />
        </section>
      </div>
      {asksDeletion && (
        <DeleteConversation
          slug={slug}
          id={id}
          visitor={visitor}
          messages={watched.talk.seen.machine?.messages ?? facts?.messages ?? null}
          onClose={() => setAsksDeletion(false)}
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

/** `readers`: link to the audit of this conversation. Null: this operator may not. */
function WhatElse({ readers, onDelete }: { readers: string | null; onDelete: (() => void) | null }) {
  return (
    <p class="actions">
      {readers !== null && <a href={readers}>Who read this conversation</a>}
      {onDelete && (
        <button type="button" class="button small bad" onClick={onDelete}>
          Delete the conversation
        </button>
      )}
    </p>
  );
}

function BlockUser({ user, onChange }: { user: UserView; onChange: (blocked: boolean) => void }) {
  return (
    <button
      type="button"
      class={user.blocked ? "button main" : "button bad"}
      onClick={() => onChange(!user.blocked)}
    >
      {user.blocked ? "Unblock the user" : "Block the user"}
    </button>
  );
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
