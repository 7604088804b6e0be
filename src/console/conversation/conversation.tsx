import { useState } from "preact/hooks";
import { StateFlag } from "../inbox/states.tsx";
import { useLoaded } from "../parts/loading.ts";
import { Time } from "../parts/times.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { Problem } from "../service/problem.ts";
import type { ThreadView, UserView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { nameOf } from "../users/names.tsx";
import { useUserChange } from "../users/user-change.ts";
import { Answer } from "./answer.tsx";
import { ChartPanel } from "./chart-panel.tsx";
import { Facts } from "./facts.tsx";
import { useHandOff } from "./hand-off.ts";
import { Messages } from "./messages.tsx";
import { useTalk } from "./watch-talk.ts";

const PARTS = [
  ["talk", "Messages"],
  ["chart", "Chart"],
  ["facts", "About"],
] as const;
type Part = (typeof PARTS)[number][0];

/** One conversation: as a chat, and beside it its chart and what is known of it. */
export function Conversation({ slug, id }: { slug: string; id: string }) {
  const { api, me, channels } = useConsole();
  const may = mayOf(me);
  const watched = useTalk(api, slug, id, may.readTexts);
  const thread = useLoaded<ThreadView | null>(
    (signal) => orUnknown(api.get(pathOf("channels", slug, "threads", id), {}, signal)),
    [slug, id],
  );
  const userId = thread.value?.userId ?? "";
  const user = useLoaded<UserView | null>(
    (signal) =>
      userId === ""
        ? Promise.resolve(null)
        : orUnknown(api.get(pathOf("channels", slug, "users", userId), {}, signal)),
    [slug, userId],
  );
  const change = useUserChange(slug, user.set);
  const handOff = useHandOff(slug, id, thread.reload);
  const settings = channels?.find((one) => one.slug === slug)?.handoff;
  const hasHandOff = settings?.enabled === true && may.readTexts;
  const [part, setPart] = useState<Part>("talk");
  const state = watched.talk.state ?? thread.value?.state ?? null;
  const { person } = watched.talk;
  const isMine = state === "with_person" && person !== null && "name" in person && person.name === me.name;
  const visitor = user.value ? nameOf(user.value) : "Visitor";
  const known = user.value;
  return (
    <Titled
      title="Conversation"
      fills
      above={
        <>
          <a href={linkTo(["inbox"])}>Inbox</a> / <a href={linkTo(["channels", slug, "threads"])}>{slug}</a>
        </>
      }
      actions={
        <>
          {state && <StateFlag state={state} />}
          {person && "name" in person && <span>{person.name}</span>}
          {person && "sinceMs" in person && (
            <span>
              since <Time at={person.sinceMs} style="ago" />
            </span>
          )}
          {may.readTexts && (
            <span class="live" role="status">
              {watched.isLive ? "Live" : watched.isLoading ? "" : "Not live"}
            </span>
          )}
          {hasHandOff && !isMine && (
            <button type="button" class="button main" disabled={handOff.isBusy} onClick={handOff.take}>
              Take over
            </button>
          )}
          {known && may.changeUsers && (
            <button
              type="button"
              class={known.blocked ? "button main" : "button bad"}
              onClick={() => void change.send(known, { blocked: !known.blocked })}
            >
              {known.blocked ? "Unblock the user" : "Block the user"}
            </button>
          )}
        </>
      }
    >
      <Trouble text={watched.trouble ?? thread.trouble} />
      <Trouble text={change.trouble ?? handOff.trouble} />
      {watched.talk.isDeleted && <p class="words">This conversation was deleted.</p>}
      <div class="parts" role="group" aria-label="Parts of the conversation">
        {PARTS.map(([name, text]) => (
          <button key={name} type="button" aria-pressed={part === name} onClick={() => setPart(name)}>
            {text}
          </button>
        ))}
      </div>
      <div class="conversation" data-part={part}>
        <section class="talk-part" aria-label="What was said">
          {may.readTexts ? (
            <>
              <Messages watched={watched} visitor={visitor} />
              {isMine && <Answer handOff={handOff} replies={settings?.replies ?? []} />}
            </>
          ) : (
            <p class="words">Your role sees that this conversation happened, and not what was said in it.</p>
          )}
        </section>
        {may.readTexts && (
          <section class="chart-part" aria-label="Chart">
            <ChartPanel id={id} seen={watched.talk.seen} />
          </section>
        )}
        <section class="facts-part" aria-label="About">
          <h2>About</h2>
          <Facts slug={slug} id={id} thread={thread.value} chart={watched.talk.seen.thread} user={known} />
          {may.readAudit && (
            <p>
              <a href={linkTo(["audit"], { thread: id })}>Who read this conversation</a>
            </p>
          )}
        </section>
      </div>
    </Titled>
  );
}

/** A service that does not tell it leaves the rest as it is. */
async function orUnknown<Value>(asked: Promise<Value>): Promise<Value | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}
