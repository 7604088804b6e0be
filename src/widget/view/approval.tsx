import type { VNode } from "preact";
import { printable, printableArguments } from "../../client/core/printable.ts";
import type { Approval } from "../../protocol/lines.ts";
import { ConfirmationCard } from "./confirmation-card.tsx";
import type { ViewState } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** Asks the visitor whether a call of a tool may be made that waits for them. */
export function ApprovalCard({ state, language }: WidgetProps): VNode | null {
  const asked = askedIn(state);
  const { approve } = state;
  if (!asked || !approve) return null;
  const { callId, tool, text } = asked;
  // What would be called is told beside the assistant's own words for it.
  const confirmation = {
    title: `${printable(text)} (${printable(tool)})`,
    arguments: printableArguments(asked.arguments),
    isOnce: true,
    decide: (consent: string) => approve(callId, consent === "allow"),
  };
  return <ConfirmationCard key={callId} confirmation={confirmation} strings={language.strings} />;
}

/** The call that waits for the visitor, and was not decided here; undefined: none does. */
function askedIn({ messages, decided = [] }: ViewState): (Approval & { text: string }) | undefined {
  const live = messages.findLast((message) => message.live);
  for (const { phase, approval, text } of live?.steps ?? []) {
    const isAsked = phase === "running" && approval?.by === "visitor" && !decided.includes(approval.callId);
    if (approval && isAsked) return { ...approval, text };
  }
  return undefined;
}
