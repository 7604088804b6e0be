import { Component } from "preact";
import type { VNode } from "preact";
import type { Language } from "../../strings/language.ts";
import type { Strings } from "../../strings/strings.ts";
import { Face } from "../face.tsx";
import { RichText } from "../markdown/rich-text.tsx";
import { MessageFiles } from "./message-files.tsx";
import { MessageImages } from "./message-images.tsx";
import { MessageTools } from "./message-tools.tsx";
import { Sources } from "./sources.tsx";
import { Time } from "../time.tsx";
import { Steps } from "./steps.tsx";
import type { Problem, ShownMessage, ViewState } from "../view-state.ts";

interface Props {
  message: ShownMessage;
  /** The one before is another's: this one says whose it is. */
  isFirst: boolean;
  /** Formulas are shown, and not what they are written in. */
  hasFormulas: boolean;
  /** Of who wrote it. */
  picture: string | null | undefined;
  language: Language;
  retry: (key: string) => void;
  saveFile: ViewState["saveFile"];
}

/** One message. Rendered again only when it has changed. */
export class MessageBubble extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    const { message, language, isFirst, picture } = this.props;
    return (
      next.message !== message ||
      next.language !== language ||
      next.isFirst !== isFirst ||
      next.picture !== picture
    );
  }

  override render({ message, isFirst, hasFormulas, picture, language, retry, saveFile }: Props): VNode {
    const { role, text, author, images, files, steps, live, atMs, isCutOff, problem } = message;
    const { strings } = language;
    return (
      <article class={`message ${role}${isFirst ? " first" : ""}`} part="message">
        <p class={role === "user" || !isFirst ? "unseen" : "author"}>
          {role === "assistant" && isFirst && <Face person={author} picture={picture} />}
          <span dir="auto">{role === "user" ? strings.you : (author ?? strings.assistant)}</span>
        </p>
        <Steps steps={steps} live={live} strings={strings} />
        {images !== undefined && <MessageImages images={images} strings={strings} />}
        {files !== undefined && files.length > 0 && (
          <MessageFiles files={files} tag={language.tag} save={saveFile} />
        )}
        {role === "user"
          ? text !== "" && (
              <p class="user-text" part="user" dir="auto">
                {text}
              </p>
            )
          : text !== "" && <RichText text={text} strings={strings} hasFormulas={hasFormulas} />}
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
