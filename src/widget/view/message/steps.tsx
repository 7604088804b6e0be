import type { VNode } from "preact";
import type { Strings } from "../../strings/strings.ts";
import { DONE, FAILED, Icon } from "../icons.tsx";
import type { ShownStep } from "../view-state.ts";

/** What the agent did for a reply. Several are folded when the reply is there. */
export function Steps(props: { steps: readonly ShownStep[]; live: boolean; strings: Strings }): VNode | null {
  const { steps, live, strings } = props;
  if (steps.length === 0) return null;
  const list = (
    <ul class="steps">
      {steps.map((step) => (
        <StepRow key={step.id} step={step} strings={strings} />
      ))}
    </ul>
  );
  if (live || steps.length === 1) return list;
  const failed = steps.filter(({ phase }) => phase === "failed").length;
  return (
    <details class="folded" part="steps">
      <summary>
        <Icon path={failed > 0 ? FAILED : DONE} />
        {strings.steps.replace("{n}", String(steps.length))}
        {failed > 0 && ` (${failed} ${strings.failedStep})`}
      </summary>
      {list}
    </details>
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
