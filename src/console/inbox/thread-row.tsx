import { useContext } from "preact/hooks";
import { Time } from "../parts/times.tsx";
import type { PlacedThread } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";
import { StateFlag } from "./states.tsx";
import { Unread } from "./unread.ts";
import { shortened, whoOf } from "./who.ts";

/** A conversation in a list: whose, what it is about, what was said last, its state, when something last happened. */
export function ThreadRow({
  thread,
  tabIndex,
  withChannel = false,
  withUser = true,
  part,
}: {
  thread: PlacedThread;
  tabIndex: 0 | -1;
  withChannel?: boolean;
  withUser?: boolean;
  /** The tab of the conversation that the row leads to; absent: its messages. */
  part?: "machine";
}) {
  const { channels } = useConsole();
  const isWeb = channels?.find(({ slug }) => slug === thread.channel)?.kind !== "transport";
  const unread = useContext(Unread).get(thread.id) ?? 0;
  const { id, channel, state, updatedAt, handoff, title, preview, labels = [], queue } = thread;
  return (
    <a class="row" href={linkTo(["channels", channel, "threads", id], { part })} tabIndex={tabIndex}>
      <span class="first" dir="auto">
        <b>{whoOf(thread, { isWeb })}</b>
        {withChannel && <span class="quiet"> in {channel}</span>}
        {title !== undefined && title !== preview && <span> · {title}</span>}
      </span>
      <span class="second" dir="auto">
        {state === "waiting_for_person" && handoff?.waitingSince !== undefined && (
          <>
            since <Time at={handoff.waitingSince} />:{" "}
          </>
        )}
        {state === "with_person" && handoff?.with !== undefined && (
          <>
            with {handoff.shownAs ?? handoff.with}
            {handoff.answerBy !== undefined && (
              <>
                , answer by <Time at={handoff.answerBy} />
              </>
            )}
            :{" "}
          </>
        )}
        {thread.found ?? preview ?? <Bare thread={thread} withUser={withUser} />}
      </span>
      <span class="flags">
        {unread > 0 && <span class="new">{unread} unread</span>}
        {queue !== undefined && <span class="flag">{queue}</span>}
        {labels.map((label) => (
          <span key={label} class="flag label">
            {label}
          </span>
        ))}
        {thread.snoozedUntil !== undefined && (
          <span class="flag">
            until <Time at={thread.snoozedUntil} />
          </span>
        )}
        {thread.approval === "operator" ? (
          <span class="flag state waiting_for_person">asks for approval</span>
        ) : (
          state !== "idle" && <StateFlag state={state} />
        )}
      </span>
      <span class="at">
        <Time at={updatedAt} style="ago" />
      </span>
    </a>
  );
}

/** What a row says of a conversation whose texts the reader may not see, or that has none. */
function Bare({ thread, withUser }: { thread: PlacedThread; withUser: boolean }) {
  const { messages, userId, createdAt } = thread;
  if (messages !== undefined)
    return <>{`${messages.toLocaleString()} ${messages === 1 ? "message" : "messages"}`}</>;
  if (withUser)
    return (
      <>
        user <span class="mono">{shortened(userId)}</span>
      </>
    );
  return (
    <>
      begun <Time at={createdAt} style="long" />
    </>
  );
}
