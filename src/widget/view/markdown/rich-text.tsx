import { Component } from "preact";
import type { VNode } from "preact";
import type { Strings } from "../../strings/strings.ts";
import { formulasFor } from "./formulas.ts";
import { renderMarkdown } from "./render-markdown.ts";

/** The text of a reply. */
export class RichText extends Component<{ text: string; strings: Strings; hasFormulas: boolean }> {
  #box: HTMLElement | null = null;

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
    const { text, strings, hasFormulas } = this.props;
    if (this.#box === null) return;
    const formulas = hasFormulas ? formulasFor(text, () => this.#write()) : null;
    renderMarkdown(this.#box, text, strings, formulas);
  }
}
