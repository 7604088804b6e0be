import { Component } from "preact";
import type { VNode } from "preact";
import type { Strings } from "../strings/strings.ts";
import { Icon } from "./icons.tsx";
import { RichText } from "./rich-text.tsx";
import type { ShownMessage, ShownStep } from "./view-state.ts";

interface Props {
  message: ShownMessage;
  strings: Strings;
  retry: (key: string) => void;
}

/** One message. Drawn again only when it has changed. */
export class MessageBubble extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return next.message !== this.props.message || next.strings !== this.props.strings;
  }

  override render({ message, strings, retry }: Props): VNode {
    const { role, text, steps, live, problem } = message;
    return (
      <article class={`message ${role}`} part={`message ${role}`}>
        <span class="unseen">{role === "user" ? strings.you : strings.assistant}</span>
        {steps.length > 0 && (
          <ul class="steps">
            {steps.map((step) => (
              <StepRow key={step.id} step={step} strings={strings} />
            ))}
          </ul>
        )}
        {role === "user" ? (
          <p class="user-text" dir="auto">
            {text}
          </p>
        ) : (
          text !== "" && <RichText text={text} />
        )}
        {live && text === "" && steps.every((step) => step.phase !== "running") && (
          <span class="typing" role="img" aria-label={strings.writing}>
            <i />
            <i />
            <i />
          </span>
        )}
        {problem !== null && (
          <div class="problem" role="alert">
            <p dir="auto">{problem.text}</p>
            {problem.hint !== undefined && (
              <p class="hint" dir="auto">
                {problem.hint}
              </p>
            )}
            {problem.retry !== null && (
              <button type="button" class="chip" onClick={() => retry(message.key)}>
                {strings.retry}
              </button>
            )}
          </div>
        )}
      </article>
    );
  }
}

function StepRow({ step, strings }: { step: ShownStep; strings: Strings }): VNode {
  const phase = { running: strings.running, done: strings.done, failed: strings.failedStep }[step.phase];
  return (
    <li class={`step ${step.phase}`} part="step">
      {step.phase === "running" ? <span class="spinner" /> : <Icon name={step.phase} />}
      <span dir="auto">{step.text === "" ? step.id : step.text}</span>
      <span class="unseen">{phase}</span>
    </li>
  );
}
