import type { VNode } from "preact";
import type { Decision, Question } from "./state.ts";
import type { Strings } from "../strings/strings.ts";

/** May this tool run, with these values? */
export function QuestionCard({ question, strings }: { question: Question; strings: Strings }): VNode {
  const answer = (decision: Decision, label: string, look: string) => (
    <button type="button" class={look} onClick={() => question.decide(decision)}>
      {label}
    </button>
  );
  return (
    <div class="question" part="confirm" role="group" aria-label={strings.question}>
      <p>
        <strong>{strings.question}</strong>
      </p>
      <p dir="auto">{question.title}</p>
      {question.arguments.length > 0 && (
        <dl>
          {question.arguments.map(([name, value]) => (
            <div key={name}>
              <dt dir="auto">{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <div class="answers">
        {answer("allow", strings.allow, "chip strong")}
        {answer("decline", strings.decline, "chip")}
        {answer("always", strings.always, "chip")}
      </div>
    </div>
  );
}
