import type { VNode } from "preact";
import { CloseButton } from "./close-button.tsx";
import { CHAT, DOWN, Icon } from "./icons.tsx";
import { panelModule } from "./panel-module.ts";
import type { WidgetProps } from "./widget-props.ts";

/** A launcher, and the panel that it opens. What is in the panel comes with the second file. */
export function Widget(props: WidgetProps): VNode {
  const { state, open, inline, language, actions } = props;
  const { strings } = language;
  const news = [
    ...(state.confirmation === null ? [] : [strings.asks]),
    ...(state.unread > 0 ? [strings.unread.replace("{n}", String(state.unread))] : []),
  ];
  const { Panel = Frame, panelAttributes, Teaser } = panelModule() ?? {};
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
      {(open || inline) && (
        <div
          id="panel"
          class="panel"
          part="panel"
          role="dialog"
          aria-label={props.heading}
          aria-busy={panelAttributes === undefined && !props.hasFailed}
          {...panelAttributes?.(props)}
        >
          <Panel {...props} />
        </div>
      )}
      {Teaser && <Teaser {...props} />}
      {props.hasLauncher && !inline && (
        <button
          type="button"
          class="launcher"
          part="launcher"
          aria-expanded={open}
          aria-controls={open ? "panel" : undefined}
          aria-label={open ? strings.close : [strings.open, ...news].join(": ")}
          onClick={actions.toggle}
          onPointerEnter={actions.approach}
          onFocus={actions.approach}
        >
          <slot name="launcher-icon">
            <Icon path={open ? DOWN : CHAT} />
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

/** In the panel until the second file is there: a name, and the button that closes it. */
function Frame(props: WidgetProps): VNode {
  const { heading, hasFailed, inline, language, actions } = props;
  const { strings } = language;
  return (
    <>
      <header class="header" part="header">
        <h2>{heading}</h2>
        {!inline && <CloseButton {...props} />}
      </header>
      {hasFailed ? (
        <div class="banner" part="banner" role="alert">
          <p>{strings.failed}</p>
          <button type="button" class="chip" onClick={actions.approach}>
            {strings.retry}
          </button>
        </div>
      ) : (
        <div class="waits" />
      )}
    </>
  );
}
