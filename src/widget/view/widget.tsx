import type { VNode } from "preact";
import type { Language } from "../strings/language.ts";
import { isRunning } from "./state.ts";
import type { Shown } from "./state.ts";
import { Composer } from "./composer.tsx";
import { IconButton } from "./icon-button.tsx";
import { Icon } from "./icons.tsx";
import { Log } from "./log.tsx";
import { QuestionCard } from "./question-card.tsx";

export interface Look {
  shown: Shown;
  language: Language;
  open: boolean;
  inline: boolean;
  hasLauncher: boolean;
  heading: string;
  placeholder: string;
  welcome: string;
  suggestions: readonly string[];
  maxChars: number;
}

/** What the visitor can do. */
export interface Acts {
  toggle: () => void;
  send: (text: string) => void;
  stop: () => void;
  retry: () => void;
  newThread: () => void;
  earlier: () => void;
  draft: (text: string) => void;
}

/** The whole of what is seen: a launcher, and the panel that it opens. */
export function Widget({ look, acts }: { look: Look; acts: Acts }): VNode {
  const { shown, open, inline } = look;
  const { strings } = look.language;
  const isBlocked = shown.phase === "blocked";
  return (
    <section
      class="frame"
      aria-label={look.heading}
      lang={look.language.code}
      dir={look.language.dir}
      data-phase={shown.phase}
      // Above whatever the page puts on top of itself.
      popover={inline ? undefined : "manual"}
    >
      {(open || inline) && <Panel look={look} acts={acts} />}
      {look.hasLauncher && !inline && !isBlocked && (
        <button
          type="button"
          class="launcher"
          part="launcher"
          aria-expanded={open}
          aria-controls={open ? "panel" : undefined}
          aria-label={open ? strings.close : strings.open}
          onClick={acts.toggle}
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

function Panel({ look, acts }: { look: Look; acts: Acts }): VNode {
  const { shown, inline, heading } = look;
  const { strings } = look.language;
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
        acts.toggle();
      }}
    >
      <header class="header" part="header">
        <slot name="header">
          <h2>{heading}</h2>
        </slot>
        {shown.items.length > 0 && !isRunning(shown.phase) && (
          <IconButton icon="add" label={strings.newChat} class="plain" onClick={acts.newThread} />
        )}
        {!inline && <IconButton icon="close" label={strings.close} class="plain" onClick={acts.toggle} />}
      </header>
      <Log look={look} acts={acts} />
      {shown.question !== null && <QuestionCard question={shown.question} strings={strings} />}
      <Banner look={look} />
      <Composer look={look} acts={acts} />
      <slot name="footer" />
    </div>
  );
}

function Banner({ look: { shown, language } }: { look: Look }): VNode | null {
  const notice = shown.phase === "offline" ? { text: language.strings.offline, alert: true } : shown.notice;
  if (notice === null) return null;
  return (
    <p class="banner" part="banner" role={notice.alert ? "alert" : undefined}>
      {notice.text}
    </p>
  );
}
