import type { VNode } from "preact";
import type { Strings } from "../strings/strings.ts";
import type { Confirmation, Consent } from "./view-state.ts";

/** May this tool run, with these values? */
export function ConfirmationCard({
  confirmation,
  strings,
}: {
  confirmation: Confirmation;
  strings: Strings;
}): VNode {
  const button = (consent: Consent, label: string, className: string) => (
    <button type="button" class={className} onClick={() => confirmation.decide(consent)}>
      {label}
    </button>
  );
  return (
    <div class="confirm" part="confirm" role="group" aria-label={strings.question}>
      <p>
        <strong>{strings.question}</strong>
      </p>
      <p dir="auto">{confirmation.title}</p>
      {confirmation.arguments.length > 0 && (
        <dl>
          {confirmation.arguments.map(([name, value]) => (
            <div key={name}>
              <dt dir="auto">{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <div class="choices">
        {button("allow", strings.allow, "chip strong")}
        {button("decline", strings.decline, "chip")}
        {button("always", strings.always, "chip")}
      </div>
    </div>
  );
}
