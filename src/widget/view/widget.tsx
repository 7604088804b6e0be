import type { VNode } from "preact";
import { isRunning } from "./state.ts";
import { Composer } from "./composer.tsx";
import { IconButton } from "./icon-button.tsx";
import { Icon } from "./icons.tsx";
import { Log } from "./log.tsx";
import { QuestionCard } from "./question-card.tsx";
import type { WidgetProps } from "./widget-props.ts";

/** The whole of what is seen: a launcher, and the panel that it opens. */
export function Widget(props: WidgetProps): VNode {
  const { shown, open, inline, language } = props;
  const { strings } = language;
  const isBlocked = shown.phase === "blocked";
  return (
    <section
      class="frame"
      aria-label={props.heading}
      lang={language.code}
      dir={language.dir}
      data-phase={shown.phase}
      // Above whatever the page puts on top of itself.
      popover={inline ? undefined : "manual"}
    >
      {(open || inline) && <Panel {...props} />}
      {props.hasLauncher && !inline && !isBlocked && (
        <button
          type="button"
          class="launcher"
          part="launcher"
          aria-expanded={open}
          aria-controls={open ? "panel" : undefined}
          aria-label={open ? strings.close : strings.open}
          onClick={props.actions.toggle}
        >
          <slot name="launcher-icon">
            <Icon name={open ? "down" : "chat"} />
          </slot>
          {shown.unread > 0 && !open && (
            <span class="badge" part="badge">
              <span aria-hidden="true">{shown.unread}</span>
              <span class="unseen">{strings.unread.replace("{n}", String(shown.unread))}</span>
            </span>
          )}
        </button>
      )}
      <div class="unseen" role="status">
        {shown.spoken}
      </div>
    </section>
  );
}

function Panel(props: WidgetProps): VNode {
  const { shown, inline, heading, actions } = props;
  const { strings } = props.language;
  return (
    <div
      id="panel"
      class="panel"
      part="panel"
      role="dialog"
      aria-label={heading}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.isComposing || inline) return;
        event.stopPropagation();
        actions.toggle();
      }}
    >
      <header class="header" part="header">
        <slot name="header">
          <h2>{heading}</h2>
        </slot>
        {shown.items.length > 0 && !isRunning(shown.phase) && (
          <IconButton icon="add" label={strings.newChat} class="plain" onClick={actions.newThread} />
        )}
        {!inline && <IconButton icon="close" label={strings.close} class="plain" onClick={actions.toggle} />}
      </header>
      <Log {...props} />
      {shown.question !== null && <QuestionCard question={shown.question} strings={strings} />}
      <Banner {...props} />
      <Composer {...props} />
      <slot name="footer" />
    </div>
  );
}

function Banner({ shown, language }: WidgetProps): VNode | null {
  const notice = shown.phase === "offline" ? { text: language.strings.offline, alert: true } : shown.notice;
  if (notice === null) return null;
  return (
    <p class="banner" part="banner" role={notice.alert ? "alert" : undefined}>
      {notice.text}
    </p>
  );
}
