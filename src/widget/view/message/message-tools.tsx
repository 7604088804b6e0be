import { Component } from "preact";
import type { VNode } from "preact";
import type { Language } from "../../strings/language.ts";
import { AGAIN, COPY, EDIT, Icon } from "../icons.tsx";
import { brancherOf } from "./brancher.ts";
import type { Brancher } from "./brancher.ts";
import { Thumbs } from "./thumbs.tsx";
import type { ShownMessage } from "../view-state.ts";

interface Props {
  message: ShownMessage;
  language: Language;
}

/** What the visitor can do with a message: rate a reply, copy it, have it made anew; say an own one otherwise. */
export function MessageTools(props: Props): VNode | null {
  const { message } = props;
  const brancher = brancherOf(message);
  if (message.role === "user") return brancher ? <Editing {...props} brancher={brancher} /> : null;
  const { author, live, text } = message;
  if (live || author || message.id === null || text === "") return <Thumbs {...props} />;
  return (
    <div class="tools" part="tools">
      <Thumbs {...props} />
      <CopyButton text={text} language={props.language} />
      {brancher?.mayAnswerAgain(message) && (
        <ToolButton
          path={AGAIN}
          label={props.language.strings.answerAgain}
          onClick={() => void brancher.answerAgain(message)}
        />
      )}
    </div>
  );
}

function ToolButton(props: { path: string; label: string; onClick: () => void }): VNode {
  return (
    <button
      type="button"
      class="thumb tool"
      part="tool"
      aria-label={props.label}
      title={props.label}
      onClick={props.onClick}
    >
      <Icon path={props.path} />
    </button>
  );
}

class CopyButton extends Component<{ text: string; language: Language }, { isCopied: boolean }> {
  override state = { isCopied: false };

  override render({ text, language: { strings } }: { text: string; language: Language }): VNode {
    const copy = async () => {
      await navigator.clipboard.writeText(text).catch(() => {});
      this.setState({ isCopied: true });
    };
    return (
      <ToolButton
        path={COPY}
        label={this.state.isCopied ? strings.copied : strings.copy}
        onClick={() => void copy()}
      />
    );
  }
}

type EditingProps = Props & { brancher: Brancher };

class Editing extends Component<EditingProps, { isOpen: boolean }> {
  override state = { isOpen: false };
  #box: HTMLElement | null = null;

  override componentDidUpdate(_: EditingProps, before: { isOpen: boolean }): void {
    if (before.isOpen === this.state.isOpen) return;
    this.#box?.querySelector<HTMLElement>("textarea, button")?.focus();
  }

  override render(
    { message, language: { strings }, brancher }: EditingProps,
    { isOpen }: { isOpen: boolean },
  ): VNode {
    const close = () => this.setState({ isOpen: false });
    const say = (text: string | undefined) => {
      const words = text?.trim() ?? "";
      close();
      if (words !== "" && words !== message.text) void brancher.replace(message, words);
    };
    return (
      <div
        class="tools own"
        part="tools"
        ref={(box) => {
          this.#box = box;
        }}
      >
        {isOpen ? (
          <form
            class="comment edit"
            onSubmit={(event) => {
              event.preventDefault();
              say(event.currentTarget.querySelector("textarea")?.value);
            }}
            onKeyDown={(event) => {
              if (event.isComposing) return;
              if (event.key === "Escape") {
                event.stopPropagation();
                close();
              } else if (
                event.key === "Enter" &&
                !event.shiftKey &&
                event.target instanceof HTMLTextAreaElement
              ) {
                event.preventDefault();
                say(event.target.value);
              }
            }}
          >
            <textarea
              part="edit"
              dir="auto"
              rows={3}
              aria-label={strings.editMessage}
              defaultValue={message.text}
            />
            <button class="chip strong">{strings.send}</button>
            <button type="button" class="chip" onClick={close}>
              {strings.cancelEdit}
            </button>
          </form>
        ) : (
          <ToolButton
            path={EDIT}
            label={strings.editMessage}
            onClick={() => this.setState({ isOpen: true })}
          />
        )}
      </div>
    );
  }
}
