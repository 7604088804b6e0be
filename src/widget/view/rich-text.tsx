import { Component } from "preact";
import type { VNode } from "preact";

export interface MarkdownModule {
  /** Writes markdown into an element. Blocks that have not changed stay as they are. */
  renderMarkdown(into: HTMLElement, text: string): void;
}

let loading: Promise<void> | null = null;
let renderer: MarkdownModule | null = null;

/**
 * Loads the markdown renderer. It is half of the element's code and not needed before the first reply, so it is loaded
 * when the panel opens. Until then, and where it does not load, replies are plain text.
 */
export function loadMarkdown(load: () => Promise<MarkdownModule>): Promise<void> {
  loading ??= load().then(
    (module) => {
      renderer = module;
    },
    (error: unknown) => {
      loading = null;
      console.warn("chat-agent: answers stay plain text, the renderer did not load:", error);
    },
  );
  return loading;
}

/** The text of a reply. */
export class RichText extends Component<{ text: string; key?: string }> {
  #box: HTMLElement | null = null;
  #isPlain = false;

  override componentDidMount(): void {
    this.#write();
    if (renderer === null) void loading?.then(() => this.#write());
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
    if (renderer === null) {
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
    renderer.renderMarkdown(box, this.props.text);
  }
}
