import type { VNode } from "preact";
import { Composer } from "./composer/composer.tsx";
import { ConfirmationCard } from "./confirmation-card.tsx";
import { PanelHeader } from "./panel-header.tsx";
import { MessageLog } from "./message-log.tsx";
import { ThreadListView } from "./thread-list-view.tsx";
import { attach } from "./composer/attach-button.tsx";
import { fileIntake } from "../files/file-intake.ts";
import type { Notice } from "./view-state.ts";
import type { PanelAttributes, WidgetProps } from "./widget-props.ts";

/** In the panel: the conversation with its header and composer, or in its place the visitor's conversations. */
export function Panel(props: WidgetProps): VNode {
  const { state } = props;
  const { strings } = props.language;
  return (
    <>
      <PanelHeader {...props} />
      {state.threads !== null ? (
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
    </>
  );
}

/** What the panel's element has besides: a name, and what is done with keys, and with files that are dropped on it. */
export function panelAttributes({ state, heading, inline, language, actions }: WidgetProps): PanelAttributes {
  const { strings } = language;
  const isList = state.threads !== null;
  const takesFiles = (state.fileBytes ?? null) !== null;
  return {
    "aria-label": isList ? strings.chats : heading,
    // Shown while a file is held over the panel.
    "data-drop": takesFiles ? strings.dropFiles : strings.dropImages,
    ...(state.imageRoom === null && !takesFiles ? {} : fileIntake((files) => attach(state, actions, files))),
    onKeyDown(event) {
      if (event.key !== "Escape" || event.isComposing || (inline && !isList)) return;
      event.stopPropagation();
      if (isList) actions.closeThreads();
      else actions.toggle();
    },
  };
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
