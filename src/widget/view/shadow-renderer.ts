import { render } from "preact";
import type { ComponentChild } from "preact";
import css from "../styles/widget.css";
import { panelModule } from "./panel-module.ts";

/** Renders the element into its shadow root. The stylesheet is a constructed one, which no page policy forbids. */
export class ShadowRenderer {
  readonly #shadow: ShadowRoot;
  readonly #view: () => ComponentChild;
  #frame = 0;

  constructor(element: HTMLElement, view: () => ComponentChild) {
    this.#shadow = element.attachShadow({ mode: "open", delegatesFocus: true });
    this.#adopt(css);
    this.#view = view;
  }

  /** Renders in the next frame: lines arrive faster than frames. */
  schedule(): void {
    // A hidden tab gets no frames, not even one requested earlier; a screen reader and the badge must not wait for one.
    if (document.visibilityState === "hidden") this.draw();
    else if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.draw());
  }

  draw(): void {
    this.cancel();
    if (!this.#shadow.host.isConnected) return;
    const { adoptedStyleSheets } = this.#shadow;
    const { styles } = panelModule() ?? {};
    if (styles !== undefined && adoptedStyleSheets.length === 1) this.#adopt(styles);
    render(this.#view(), this.#shadow);
    const popover = this.#shadow.querySelector<HTMLElement>("[popover]");
    if (popover !== null && !popover.matches(":popover-open")) popover.showPopover();
  }

  #adopt(text: string): void {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    this.#shadow.adoptedStyleSheets.push(sheet);
  }

  /** Cancels what is scheduled. */
  cancel(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  /** Until the signal aborts, the panel stays above a phone's keyboard. */
  fit(signal: AbortSignal): void {
    const frame = this.#shadow.querySelector<HTMLElement>(".frame");
    if (frame !== null) panelModule()?.fitViewport(frame, () => this.draw(), signal);
  }

  focus(selector: string): void {
    this.#shadow.querySelector<HTMLElement>(selector)?.focus();
  }
}
