import { render } from "preact";
import type { ComponentChild } from "preact";
import css from "../styles/widget.css";

/** Where the element is drawn: a shadow root with a constructed stylesheet, which no page policy forbids. */
export class Stage {
  readonly #shadow: ShadowRoot;
  readonly #view: () => ComponentChild;
  #frame = 0;

  constructor(element: HTMLElement, view: () => ComponentChild) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    this.#shadow = element.attachShadow({ mode: "open", delegatesFocus: true });
    this.#shadow.adoptedStyleSheets = [sheet];
    this.#view = view;
  }

  /** Draws with the next picture: lines come faster than those. */
  schedule(): void {
    if (this.#frame !== 0) return;
    // A hidden tab draws no frames; what a screen reader or a badge shows must not wait for that.
    if (document.visibilityState === "hidden") this.draw();
    else this.#frame = requestAnimationFrame(() => this.draw());
  }

  draw(): void {
    this.leave();
    if (!this.#shadow.host.isConnected) return;
    render(this.#view(), this.#shadow);
    const popover = this.#shadow.querySelector<HTMLElement>("[popover]");
    if (popover !== null && !popover.matches(":popover-open")) popover.showPopover();
  }

  /** Draws no more until it is asked to. */
  leave(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  focus(selector: string): void {
    this.#shadow.querySelector<HTMLElement>(selector)?.focus();
  }
}
