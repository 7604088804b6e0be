import { Component } from "preact";
import type { VNode } from "preact";

/** Writes markdown into an element, where only what changed is written anew. */
export type MarkdownRenderer = (into: HTMLElement, text: string) => void;

/**
 * The markdown renderer is half of the element's code and not needed before the first answer: it is loaded when the
 * panel opens. Until it is here, and where it cannot be had, answers are shown as the plain text that they are.
 */
let loading: Promise<void> | null = null;
let renderMarkdown: MarkdownRenderer | null = null;

export function loadMarkdown(load: () => Promise<{ renderMarkdown: MarkdownRenderer }>): Promise<void> {
  loading ??= load().then(
    (module) => {
      renderMarkdown = module.renderMarkdown;
    },
    (error: unknown) => {
      loading = null;
      console.warn("chat-agent: answers stay plain text, the renderer did not load:", error);
    },
  );
  return loading;
}

/** An answer's text. */
export class RichText extends Component<{ text: string; key?: string }> {
  #box: HTMLElement | null = null;
  #isPlain = false;

  override componentDidMount(): void {
    this.#write();
    if (renderMarkdown === null) void loading?.then(() => this.#write());
  }

  override componentDidUpdate(): void {
    this.#write();
  }

  override render(): VNode {
    return (
      <div
        class="text"
        dir="auto"
        ref={(box) => {
          this.#box = box;
        }}
      />
    );
  }

  #write(): void {
    const box = this.#box;
    if (box === null) return;
    if (renderMarkdown === null) {
      box.textContent = this.props.text;
      box.classList.add("plain-text");
      this.#isPlain = true;
      return;
    }
    if (this.#isPlain) {
      box.replaceChildren();
      box.classList.remove("plain-text");
      this.#isPlain = false;
    }
    renderMarkdown(box, this.props.text);
  }
}
