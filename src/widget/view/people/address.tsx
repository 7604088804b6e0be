import type { VNode } from "preact";
import type { WidgetProps } from "../widget-props.ts";

/** A form for an e-mail address, where nobody is there, or nobody came; or what was left. */
export function Address({ state, language }: WidgetProps): VNode | null {
  const { people, peopleAgainAtMs = null, leaveAddress, messages } = state;
  const { strings } = language;
  const isMissed = peopleAgainAtMs !== null || people?.items.at(-1)?.how === "expired";
  // Kept beside the conversation, which is there with its first message.
  if (!isMissed || !people || !messages.some(({ id }) => id !== null)) return null;
  if (people.address !== undefined)
    return (
      <p part="address" dir="auto">
        {strings.addressLeft.replace("{name}", people.address)}
      </p>
    );
  return (
    <form
      class="comment"
      part="leave-address"
      onSubmit={(event) => {
        event.preventDefault();
        const address = event.currentTarget.querySelector("input")?.value.trim() ?? "";
        if (address !== "") leaveAddress?.(address);
      }}
    >
      <input
        type="email"
        required
        maxLength={254}
        autoComplete="email"
        aria-label={strings.address}
        placeholder={strings.leaveAddress}
      />
      <button class="chip strong">{strings.send}</button>
    </form>
  );
}
