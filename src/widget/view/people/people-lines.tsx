import type { VNode } from "preact";
import type { HandoffChange } from "../../../protocol/handoffs.ts";
import type { Strings } from "../../strings/strings.ts";
import { ApprovalCard } from "../approval.tsx";
import { Time } from "../time.tsx";
import type { WidgetProps } from "../widget-props.ts";

/** What stands between two messages: who answers since, and, after the last one, what the visitor is asked. */
export function PeopleLines(props: WidgetProps & { nth: number }): VNode[] {
  const isLast = props.nth === props.state.messages.length;
  return [...changesAt(props), ...(isLast ? [<ApprovalCard key="approval" {...props} />] : [])];
}

/** The changes of who answers that came between two messages. `nth`: before which message; their count: after the last one. */
function changesAt({ state, language, nth }: WidgetProps & { nth: number }): VNode[] {
  const { people, messages, hasEarlier } = state;
  // What came before an older message that is not shown is shown with it.
  if (!people || (nth === 0 && hasEarlier)) return [];
  // A reply in progress has no time yet.
  const timeOf = (place: number) => messages[place]?.atMs ?? Infinity;
  const [from, to] = [nth === 0 ? -Infinity : timeOf(nth - 1), timeOf(nth)];
  return people.items
    .filter(({ at }) => at >= from && at < to)
    .flatMap((change) => {
      const text = textOf(change, language.strings);
      return text === null
        ? []
        : [
            <p key={change.at} class="change" part="change" dir="auto">
              {text} <Time atMs={change.at} tag={language.tag} />
            </p>,
          ];
    });
}

/** null: the conversation says it in a message of its own. */
function textOf({ how, name = "" }: HandoffChange, strings: Strings): string | null {
  switch (how) {
    case "asked":
      return strings.personAsked;
    case "cancelled":
      return strings.waitingStopped;
    case "taken":
      return strings.personJoined.replace("{name}", name);
    case "returned":
      return strings.assistantIsBack;
    case "closed":
      return strings.personClosed.replace("{name}", name);
    default:
      return null;
  }
}
