import type { VNode } from "preact";
import { Composer } from "./composer.tsx";
import { ConfirmationCard } from "./confirmation-card.tsx";
import { PanelHeader } from "./panel-header.tsx";
import { MessageLog } from "./message-log.tsx";
import { ThreadListView } from "./thread-list-view.tsx";
import { imageIntake } from "../images/image-intake.ts";
import type { Notice } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** The conversation with its header and composer, or in its place the visitor's conversations. */
export function Panel(props: WidgetProps): VNode {
  const { state, inline, actions } = props;
  const { strings } = props.language;
  const isList = state.threads !== null;
  return (
    <div
      id="panel"
      class="panel"
      part="panel"
      role="dialog"
      aria-label={isList ? strings.chats : props.heading}
      // Shown while a file is held over the panel.
      data-drop={strings.dropImages}
      {...(state.imageRoom === null ? {} : imageIntake(actions.addImages))}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.isComposing || (inline && !isList)) return;
        event.stopPropagation();
        if (isList) actions.closeThreads();
        else actions.toggle();
      }}
    >
      <PanelHeader {...props} />
      {isList ? (
        <ThreadListView {...props} />
      ) : (
        <>
          <MessageLog {...props} />
          {state.confirmation !== null && (
            <ConfirmationCard confirmation={state.confirmation} strings={strings} />
          )}
          <Banner {...props} />
          <Composer {...props} />
        </>
      )}
      <slot name="footer" />
    </div>
  );
}

function Banner({ state, language, actions }: WidgetProps): VNode | null {
  const { strings } = language;
  const notice: Notice | null =
    state.phase === "offline" ? { text: strings.offline, alert: true } : state.notice;
  if (notice === null) return null;
  return (
    <div class="banner" part="banner" role={notice.alert ? "alert" : undefined}>
      <p key={notice.text}>{notice.text}</p>
      {notice.retry === true && (
        <button type="button" class="chip" onClick={actions.reload}>
          {strings.retry}
        </button>
      )}
    </div>
  );
}
