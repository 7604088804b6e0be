import { Component } from "preact";
import type { VNode } from "preact";
import type { Strings } from "../strings/strings.ts";
import { DeleteButton, DeletionQuestion, takeFocus } from "./thread-deletion.tsx";
import { Time } from "./time.tsx";
import type { ShownThread, ShownThreads } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** From this many conversations on there is a field to search in them. */
const SEARCHED = 6;

/** The visitor's conversations, in place of the current one. */
export class ThreadListView extends Component<WidgetProps, { words: string }> {
  override state = { words: "" };

  override render(props: WidgetProps, { words }: { words: string }): VNode | null {
    const { threads } = props.state;
    const { strings } = props.language;
    if (threads === null) return null;
    const isFound = ({ title }: ShownThread) => foldedCase(title ?? "").includes(foldedCase(words.trim()));
    return (
      <>
        {threads.items.length >= SEARCHED && (
          <input
            type="search"
            class="search"
            part="search"
            dir="auto"
            aria-label={strings.searchChats}
            placeholder={strings.searchChats}
            value={words}
            onInput={({ currentTarget }) => this.setState({ words: currentTarget.value })}
          />
        )}
        <ThreadItems {...props} threads={{ ...threads, items: threads.items.filter(isFound) }} />
      </>
    );
  }
}

function foldedCase(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
}

function ThreadItems(props: WidgetProps & { threads: ShownThreads }): VNode {
  const { threads, language, actions } = props;
  const { strings, tag } = language;
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
