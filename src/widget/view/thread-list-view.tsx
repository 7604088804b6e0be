import type { VNode } from "preact";
import type { Strings } from "../strings/strings.ts";
import { DeleteButton, DeletionQuestion, takeFocus } from "./thread-deletion.tsx";
import { Time } from "./time.tsx";
import type { ShownThread } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** The visitor's conversations, in place of the current one. */
export function ThreadListView(props: WidgetProps): VNode | null {
  const { state, language, actions } = props;
  const { threads } = state;
  const { strings, tag } = language;
  if (threads === null) return null;
  const { items, hasMore, phase, deletion } = threads;
  const isAsked = (threadId: string) => deletion?.threadId === threadId && deletion.phase !== "rest";
  return (
    <div class="middle">
      <div
        class="log threads"
        part="threads"
        aria-busy={phase === "loading"}
        tabIndex={-1}
        // The focused element is gone.
        ref={deletion?.phase === "gone" ? takeFocus : null}
      >
        {items.length > 0 && (
          <ul>
            {items.map((thread) => (
              <li key={thread.threadId}>
                <div class="entry">
                  <ThreadButton {...{ thread, strings, tag }} enter={actions.enterThread} />
                  {!isAsked(thread.threadId) && (
                    <DeleteButton
                      label={strings.deleteChat}
                      isBack={deletion?.threadId === thread.threadId}
                      onClick={() => deletion?.ask(thread.threadId)}
                    />
                  )}
                </div>
                {isAsked(thread.threadId) && <DeletionQuestion {...props} threads={threads} />}
              </li>
            ))}
          </ul>
        )}
        {phase === "loading" && <span class="spinner" role="img" aria-label={strings.running} />}
        {phase === "ready" && items.length === 0 && <p class="note">{strings.noChats}</p>}
        {phase === "failed" && (
          <p class="problem" role="alert">
            {strings.failed}
          </p>
        )}
        {(phase === "failed" || (phase === "ready" && hasMore)) && (
          <button type="button" class="chip earlier" part="more" onClick={actions.moreThreads}>
            {phase === "failed" ? strings.retry : strings.more}
          </button>
        )}
      </div>
    </div>
  );
}

interface ThreadButtonProps {
  thread: ShownThread;
  strings: Strings;
  tag: string;
  enter: (threadId: string) => void;
}

function ThreadButton({ thread, strings, tag, enter }: ThreadButtonProps): VNode {
  const { threadId, title, atMs, isCurrent, isUnread } = thread;
  return (
    <button
      type="button"
      class="thread"
      part="thread"
      aria-current={isCurrent ? "true" : undefined}
      onClick={() => enter(threadId)}
    >
      <span class="title" dir="auto">
        {title ?? "…"}
      </span>
      {isUnread && (
        <span class="dot" role="img" aria-label={strings.newMessages} title={strings.newMessages} />
      )}
      <Time atMs={atMs} tag={tag} />
    </button>
  );
}
