import type { VNode } from "preact";
import { Composer } from "./composer.tsx";
import { IconButton } from "./icon-button.tsx";
import { Icon } from "./icons.tsx";
import { MessageLog } from "./message-log.tsx";
import { panelModule } from "./panel-module.ts";
import { isRunning } from "./view-state.ts";
import type { Notice } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** A launcher, and the panel that it opens. */
export function Widget(props: WidgetProps): VNode {
  const { state, open, inline, language } = props;
  const { strings } = language;
  const news = [
    ...(state.confirmation === null ? [] : [strings.asks]),
    ...(state.unread > 0 ? [strings.unread.replace("{n}", String(state.unread))] : []),
  ];
  return (
    <section
      class="frame"
      aria-label={props.heading}
      lang={language.code}
      dir={language.dir}
      data-phase={state.phase}
      // A popover stands above everything else on the page.
      popover={inline ? undefined : "manual"}
    >
      {(open || inline) && props.isReady && <Panel {...props} />}
      {props.hasLauncher && !inline && (
        <button
          type="button"
          class="launcher"
          part="launcher"
          aria-expanded={open}
          aria-controls={open && props.isReady ? "panel" : undefined}
          aria-label={open ? strings.close : [strings.open, ...news].join(": ")}
          onClick={props.actions.toggle}
        >
          <slot name="launcher-icon">
            <Icon name={open ? "down" : "chat"} />
          </slot>
          {news.length > 0 && !open && (
            <span class="badge" part="badge" aria-hidden="true">
              {state.confirmation === null ? state.unread : "?"}
            </span>
          )}
        </button>
      )}
      <div class="unseen" role="status">
        <span key={state.announcement}>{state.announcement}</span>
      </div>
    </section>
  );
}

function Panel(props: WidgetProps): VNode {
  const { state, inline, actions } = props;
  const { strings } = props.language;
  const List = state.threads === null ? undefined : panelModule()?.ThreadListView;
  const Question = panelModule()?.ConfirmationCard;
  const heading = List === undefined ? props.heading : strings.chats;
  const isResting = !isRunning(state.phase);
  return (
    <div
      id="panel"
      class="panel"
      part="panel"
      role="dialog"
      aria-label={heading}
      // Shown while a file is held over the panel.
      data-drop={strings.dropImages}
      {...(state.imageRoom === null ? {} : panelModule()?.imageIntake(actions.addImages))}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.isComposing || (inline && List === undefined)) return;
        event.stopPropagation();
        if (List === undefined) actions.toggle();
        else actions.closeThreads();
      }}
    >
      <header class="header" part="header">
        {List !== undefined && (
          <IconButton
            icon="back"
            label={strings.back}
            class="plain back"
            part="back"
            ref={takeFocus}
            onClick={actions.closeThreads}
          />
        )}
        {List === undefined ? (
          <slot name="header">
            <h2>{heading}</h2>
          </slot>
        ) : (
          <h2>{heading}</h2>
        )}
        {List === undefined && props.hasThreads && isResting && (
          <IconButton
            icon="list"
            label={strings.chats}
            class="plain list"
            part="list"
            onClick={actions.threads}
          />
        )}
        {state.messages.length > 0 && isResting && (
          <IconButton
            icon="add"
            label={strings.newChat}
            class="plain"
            part="new"
            onClick={actions.newThread}
          />
        )}
        {!inline && (
          <IconButton
            icon="close"
            label={strings.close}
            class="plain"
            part="close"
            onClick={actions.toggle}
          />
        )}
      </header>
      {List === undefined ? (
        <>
          <MessageLog {...props} />
          {Question !== undefined && state.confirmation !== null && (
            <Question confirmation={state.confirmation} strings={strings} />
          )}
          <Banner {...props} />
          <Composer {...props} />
        </>
      ) : (
        <List {...props} />
      )}
      <slot name="footer" />
    </div>
  );
}

/** A ref for the button that replaces the one that was pressed. */
function takeFocus(button: HTMLElement | null): void {
  button?.focus();
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
