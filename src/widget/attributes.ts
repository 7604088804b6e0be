import type { ConfirmTools } from "./tools/asks-first.ts";
import type { ToolSources } from "./tools/list-tools.ts";

/** A change of one of these switches to another conversation. */
export const IDENTITY = ["publishable-key", "base-url", "storage"];

export const OBSERVED = [
  ...IDENTITY,
  "open",
  "display",
  "launcher",
  "lang",
  "heading",
  "placeholder",
  "welcome",
  "welcome-text",
  "subheading",
  "picture",
  "suggestions",
  "expanded",
  "max-chars",
  "tools",
];

/** Reads the element's attributes. Absent or invalid ones get their default. */
export class Attributes {
  readonly #element: HTMLElement;
  readonly #serviceUrl: string;

  /** `serviceUrl`: used if the element has no base-url. */
  constructor(element: HTMLElement, serviceUrl: string) {
    this.#element = element;
    this.#serviceUrl = serviceUrl;
  }

  get publishableKey(): string | null {
    return this.text("publishable-key");
  }

  get baseUrl(): string {
    return (this.text("base-url") ?? this.#serviceUrl).replace(/(?<!\/)\/+$/, "");
  }

  /** Prefix of storage keys: two services or channels on one origin share none. */
  get prefix(): string {
    return `chat-agent:${this.publishableKey ?? ""}@${this.baseUrl}:`;
  }

  get open(): boolean {
    return this.#element.hasAttribute("open");
  }

  set open(open: boolean) {
    this.#element.toggleAttribute("open", open);
  }

  get isInline(): boolean {
    return this.text("display") === "inline";
  }

  get storage(): "local" | "session" | "memory" {
    return this.#oneOf("storage", ["local", "session", "memory"]);
  }

  get tools(): ToolSources {
    return this.#oneOf("tools", ["all", "page", "property", "none"]);
  }

  get confirmTools(): ConfirmTools {
    return this.#oneOf("confirm-tools", ["consequential", "writes", "all", "none"]);
  }

  /** Names of the page's parameters that are sent to the service; null: all but secrets. */
  get pageParams(): string | null {
    return this.text("page-params");
  }

  get hasLauncher(): boolean {
    return this.text("launcher") !== "none";
  }

  get toolTimeoutMs(): number {
    return this.#positive("tool-timeout", 60) * 1000;
  }

  get maxChars(): number {
    return this.#positive("max-chars", 2_000);
  }

  /** The element's own language, or the inherited one; a shadow root inherits from its host. */
  get lang(): string {
    let from: Element = this.#element;
    for (;;) {
      const holder = from.closest("[lang]");
      if (holder !== null) return holder.getAttribute("lang") ?? "";
      const root = from.getRootNode();
      if (!(root instanceof ShadowRoot)) return "";
      from = root.host;
    }
  }

  text(name: string): string | null {
    return this.#element.getAttribute(name);
  }

  #oneOf<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    const value = this.text(name);
    return words.find((word) => word === value) ?? words[0];
  }

  #positive(name: string, otherwise: number): number {
    const number = Number(this.text(name));
    return Number.isFinite(number) && number > 0 ? number : otherwise;
  }
}
