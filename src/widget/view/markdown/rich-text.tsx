import { Component } from "preact";
import type { VNode } from "preact";
import type { Strings } from "../../strings/strings.ts";
import { panelModule } from "../panel-module.ts";

/** The text of a reply. */
export class RichText extends Component<{ text: string; strings: Strings }> {
  #box: HTMLElement | null = null;
  #isPlain = false;

  override componentDidMount(): void {
    this.#write();
  }

  override componentDidUpdate(): void {
    this.#write();
  }

  override render(): VNode {
    return (
      <div
        class="text"
        part="assistant"
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
    const renderer = panelModule();
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
    renderer.renderMarkdown(box, this.props.text, this.props.strings);
  }
}
