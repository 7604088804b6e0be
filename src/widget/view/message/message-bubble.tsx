import { Component } from "preact";
import type { VNode } from "preact";
import type { Language } from "../../strings/language.ts";
import type { Strings } from "../../strings/strings.ts";
import { DONE, FAILED, Icon } from "../icons.tsx";
import { RichText } from "../markdown/rich-text.tsx";
import { MessageImages } from "./message-images.tsx";
import { MessageTools } from "./message-tools.tsx";
import { Sources } from "./sources.tsx";
import { Time } from "../time.tsx";
import type { Problem, ShownMessage, ShownStep } from "../view-state.ts";

interface Props {
  message: ShownMessage;
  language: Language;
  retry: (key: string) => void;
}

/** One message. Rendered again only when it has changed. */
export class MessageBubble extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return next.message !== this.props.message || next.language !== this.props.language;
  }

  override render({ message, language, retry }: Props): VNode {
    const { role, text, author, images, steps, live, atMs, isCutOff, problem } = message;
    const { strings } = language;
    return (
      <article class={`message ${role}`} part="message">
        <span class={author ? "author" : "unseen"}>
          {role === "user" ? strings.you : (author ?? strings.assistant)}
        </span>
        {steps.length > 0 && (
          <ul class="steps">
            {steps.map((step) => (
              <StepRow key={step.id} step={step} strings={strings} />
            ))}
          </ul>
        )}
        {images !== undefined && <MessageImages images={images} strings={strings} />}
        {role === "user" ? (
          <p class="user-text" part="user" dir="auto">
            {text}
          </p>
        ) : (
          text !== "" && <RichText text={text} strings={strings} />
        )}
        {live && text === "" && steps.every((step) => step.phase !== "running") && (
          <span class="typing" role="img" aria-label={strings.writing}>
            <i />
            <i />
            <i />
          </span>
        )}
        {isCutOff && <p class="note">{strings.cutOff}</p>}
        {problem !== null && (
          <ProblemNote problem={problem} strings={strings} retry={() => retry(message.key)} />
        )}
        <Sources message={message} language={language} />
        <MessageTools message={message} language={language} />
        {atMs !== null && <Time atMs={atMs} tag={language.tag} />}
      </article>
    );
  }
}

function ProblemNote(props: { problem: Problem; strings: Strings; retry: () => void }): VNode {
  const { problem, strings, retry } = props;
  return (
    <div class="problem" part="problem" role="alert">
      <p dir="auto">{problem.text}</p>
      {problem.hint !== undefined && (
        <p class="hint" dir="auto">
          {problem.hint}
        </p>
      )}
      {problem.retry !== null && (
        <button type="button" class="chip" part="retry" onClick={retry}>
          {strings.retry}
        </button>
      )}
    </div>
  );
}

function StepRow({ step, strings }: { step: ShownStep; strings: Strings }): VNode {
  const phase = { running: strings.running, done: strings.done, failed: strings.failedStep }[step.phase];
  return (
    <li class={`step ${step.phase}`} part="step">
      {step.phase === "running" ? (
        <span class="spinner" />
      ) : (
        <Icon path={step.phase === "done" ? DONE : FAILED} />
      )}
      {/* A text that changes gets a new element: a page's translator has taken the old text out of its place. */}
      <span dir="auto" key={step.text}>
        {step.text}
      </span>
      <span class="unseen" key={phase}>
        {phase}
      </span>
    </li>
  );
}
