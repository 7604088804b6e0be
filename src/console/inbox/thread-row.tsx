import { useContext } from "preact/hooks";
import { Time } from "../parts/times.tsx";
import type { PlacedThread } from "../service/views.ts";
import { linkTo } from "../shell/route.ts";
import { StateFlag } from "./states.tsx";
import { Unread } from "./unread.ts";

/** A conversation in a list: whose, where, its state, when something last happened. */
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
  const unread = useContext(Unread).get(thread.id) ?? 0;
  const { id, channel, threadId, userId, state, createdAt, updatedAt, messages, handoff } = thread;
  return (
    <a class="row" href={linkTo(["channels", channel, "threads", id], { part })} tabIndex={tabIndex}>
      <span class="first">
        <span class="mono">{shortened(threadId)}</span>
        {withChannel && <span class="quiet"> in {channel}</span>}
      </span>
      <span class="second">
        {state === "waiting_for_person" && handoff?.waitingSince !== undefined && (
          <>
            since <Time at={handoff.waitingSince} />,{" "}
          </>
        )}
        {state === "with_person" && handoff?.with !== undefined && <>with {handoff.with}, </>}
        {messages !== undefined && `${messages.toLocaleString()} ${messages === 1 ? "message" : "messages"} `}
        {withUser && (
          <>
            user <span class="mono">{shortened(userId)}</span>
          </>
        )}
        {messages === undefined && !withUser && (
          <>
            begun <Time at={createdAt} style="long" />
          </>
        )}
      </span>
      <span class="flags">
        {unread > 0 && <span class="new">{unread} unread</span>}
        {state !== "idle" && <StateFlag state={state} />}
      </span>
      <span class="at">
        <Time at={updatedAt} style="ago" />
      </span>
    </a>
  );
}

function shortened(id: string): string {
  return id.length > 24 ? `${id.slice(0, 16)}…` : id;
}
