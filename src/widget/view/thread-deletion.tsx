import type { VNode } from "preact";
import { IconButton } from "./icon-button.tsx";
import { BIN } from "./icons.tsx";
import type { ShownThreads } from "./view-state.ts";
import type { WidgetProps } from "./widget-props.ts";

/** Asks before the conversation is deleted. It has the focus, not one of its buttons: an Enter must not decide. */
export function DeletionQuestion(props: WidgetProps & { threads: ShownThreads }): VNode {
  const { threads, actions, language } = props;
  const { deletion } = threads;
  const { strings } = language;
  return (
    <div
      class="confirm"
      part="delete-question"
      role="group"
      aria-label={strings.deleteQuestion}
      tabIndex={-1}
      ref={takeFocus}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        deletion?.ask(null);
      }}
    >
      <p>
        <strong>{strings.deleteQuestion}</strong>
      </p>
      {deletion?.phase === "failed" && <p role="alert">{strings.failed}</p>}
      <div class="choices">
        <button
          type="button"
          class="chip strong"
          disabled={deletion?.phase === "deleting"}
          onClick={() => void deletion?.confirm(actions.newThread)}
        >
          {strings.deleteYes}
        </button>
        <button type="button" class="chip" onClick={() => deletion?.ask(null)}>
          {strings.deleteNo}
        </button>
      </div>
    </div>
  );
}

/** Opens the question. It gets the focus back when the answer was no. */
export function DeleteButton({
  label,
  isBack,
  onClick,
}: {
  label: string;
  isBack: boolean;
  onClick: () => void;
}): VNode {
  return (
    <IconButton
      path={BIN}
      label={label}
      class="plain delete"
      part="delete"
      ref={isBack ? takeFocus : null}
      onClick={onClick}
    />
  );
}

/** A ref for the element that replaces the focused one. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}
