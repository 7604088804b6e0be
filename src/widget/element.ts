import { h, render } from "preact";
import { Conversation } from "./conversation.ts";
import { languageOf } from "./language.ts";
import type { Language } from "./language.ts";
import { CONFIRM, IDENTITY, OBSERVED, oneOf, positive, SOURCES, STORAGE } from "./options.ts";
import type { ChatAgentEvents, CustomerContext, PageHost } from "./page-host.ts";
import { modelContext } from "./page-tools.ts";
import { NOTHING_SHOWN } from "./state.ts";
import type { Phase } from "./state.ts";
import { openShelf } from "./storage.ts";
import type { Strings } from "./strings/strings.ts";
import css from "./styles/widget.css";
import { listTools } from "./tools.ts";
import type { PropertyTool, ToolShape } from "./tools.ts";
import { serviceAt } from "./transport.ts";
import { loadMarkdown } from "./view/rich-text.tsx";
import type { MarkdownRenderer } from "./view/rich-text.tsx";
import { Widget } from "./view/widget.tsx";
import type { Acts, Look } from "./view/widget.tsx";

/** On a server there are no elements; importing this file there is harmless. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** Tools come and go in bunches while a page changes. */
const TOOLS_QUIET_MS = 300;

/** Set before the element was defined, these would hide its own. */
const UPGRADED = ["tools", "toolFilter", "context", "suggestions", "strings", "open"] as const;

/** `<chat-agent publishable-key="pk_…">`: the widget. README.md beside this file tells how a page uses it. */
export class ChatAgent extends Base {
  static readonly observedAttributes: readonly string[] = OBSERVED;
  /** Address of the service where no base-url is given: where the script came from. */
  static home = "";
  /** Where the markdown renderer is. */
  static markdown: () => Promise<{ renderMarkdown: MarkdownRenderer }> = () =>
    Promise.reject(new Error("no renderer was named"));

  readonly version = __VERSION__;
  /** Only tools for which it returns true are offered. */
  toolFilter: (tool: ToolShape) => boolean = () => true;

  #conversation: Conversation | null = null;
  #tools: PropertyTool[] = [];
  #registered = new Map<string, PropertyTool>();
  #context: CustomerContext | null = null;
  #suggestions: readonly string[] = [];
  #strings: Partial<Strings> = {};
  #shadow: ShadowRoot | null = null;
  #leaves = new AbortController();
  #frame = 0;
  #toolsTimer = 0;

  connectedCallback(): void {
    for (const name of UPGRADED) this.#upgrade(name);
    this.#shadow ??= this.#attach();
    this.#leaves = new AbortController();
    const { signal } = this.#leaves;
    const on = (target: EventTarget | null, type: string, listener: (event: Event) => void) =>
      target?.addEventListener(type, listener, { signal });
    on(window, "online", () => this.#conversation?.connectionChanged());
    on(window, "offline", () => this.#conversation?.connectionChanged());
    on(window, "storage", (event) => void this.#conversation?.otherTab(event as StorageEvent));
    on(document, "visibilitychange", () => this.#isSeen() && this.#conversation?.seen());
    on(modelContext(), "toolchange", () => this.refreshTools());
    // Back from the browser's page cache: the conversation may have gone on without this page.
    on(window, "pageshow", (event) => {
      if ((event as PageTransitionEvent).persisted) void this.refresh();
    });
    if (this.display !== "inline" && this.#read("open") === true) this.toggleAttribute("open", true);
    this.#draw();
    this.#begin();
    this.#emit("ready", { version: this.version });
  }

  disconnectedCallback(): void {
    this.#leaves.abort();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || this.#shadow === null) return;
    if (IDENTITY.has(name)) {
      this.#conversation = null;
      this.#begin();
    }
    if (name === "tools") this.refreshTools();
    if (name === "open") this.#opened(now !== null);
    this.#schedule();
  }

  get open(): boolean {
    return this.hasAttribute("open");
  }

  set open(open: boolean) {
    this.toggleAttribute("open", open);
  }

  get display(): "floating" | "inline" {
    return oneOf(this.getAttribute("display"), ["floating", "inline"]);
  }

  /** Tools of the page; replaces those that were set before. */
  get tools(): PropertyTool[] {
    return this.#tools;
  }

  set tools(tools: PropertyTool[]) {
    this.#tools = [...tools];
    this.refreshTools();
  }

  /** Sent with every message; values are strings, numbers and booleans, as the service takes them. */
  get context(): CustomerContext | null {
    return this.#context;
  }

  set context(context: CustomerContext | null) {
    this.#context = context === null ? null : checkedContext(context);
  }

  get suggestions(): readonly string[] {
    return this.#suggestions;
  }

  set suggestions(suggestions: readonly string[]) {
    this.#suggestions = suggestions;
    this.#schedule();
  }

  /** Words of the page's own, in place of the built-in ones. */
  get strings(): Partial<Strings> {
    return this.#strings;
  }

  set strings(strings: Partial<Strings>) {
    this.#strings = strings;
    this.#schedule();
  }

  get state(): Phase {
    return this.#conversation?.board.shown.phase ?? "idle";
  }

  get threadId(): string | null {
    return this.#conversation?.desk.threadId ?? null;
  }

  get unreadCount(): number {
    return this.#conversation?.board.shown.unread ?? 0;
  }

  /** The visitor's token, for the page's backend to identify the visitor by. Makes the visitor where there is none. */
  async getVisitorToken(): Promise<string> {
    return await this.#needed().desk.token();
  }

  show(): void {
    this.open = true;
  }

  hide(): void {
    this.open = false;
  }

  toggle(): void {
    this.open = !this.open;
  }

  override focus(): void {
    this.#shadow
      ?.querySelector<HTMLElement>(this.open || this.display === "inline" ? "textarea" : ".launcher")
      ?.focus();
  }

  /** Resolves when the run has ended, however it did. */
  async send(text: string, options: { context?: CustomerContext } = {}): Promise<void> {
    const context = options.context === undefined ? this.#context : checkedContext(options.context);
    await this.#needed().send(text, context);
  }

  async stop(): Promise<void> {
    await this.#conversation?.stop();
  }

  async retry(): Promise<void> {
    await this.#conversation?.retry();
  }

  async newThread(): Promise<void> {
    await this.#needed().newThread();
  }

  /** Loads the conversation again: after the visitor was identified, it may hold more. */
  async refresh(): Promise<void> {
    if (this.threadId !== null) await this.#conversation?.refresh();
  }

  /** Forgets the visitor and all that was said in this browser: for a page's log-out. */
  async reset(): Promise<void> {
    await this.#needed().reset();
  }

  /** Adds a tool, with the shape of WebMCP's own registerTool; the signal takes it away. */
  registerTool(tool: PropertyTool, { signal }: { signal?: AbortSignal } = {}): void {
    if (signal?.aborted === true) return;
    this.#registered.set(tool.name, tool);
    signal?.addEventListener("abort", () => {
      if (this.#registered.get(tool.name) === tool) this.#registered.delete(tool.name);
      this.refreshTools();
    });
    this.refreshTools();
  }

  /** Tells the service of the page's tools, where they changed: also after toolFilter was set. */
  refreshTools(): void {
    clearTimeout(this.#toolsTimer);
    if (!this.isConnected) return;
    this.#toolsTimer = window.setTimeout(() => void this.#conversation?.toolsChanged(), TOOLS_QUIET_MS);
  }

  #begin(): void {
    const publishableKey = this.getAttribute("publishable-key");
    if (publishableKey === null || this.#conversation !== null) return;
    const baseUrl = (this.getAttribute("base-url") ?? ChatAgent.home).replace(/\/+$/, "");
    const prefix = this.#prefix();
    this.#conversation = new Conversation({
      service: serviceAt(baseUrl),
      publishableKey,
      shelf: openShelf(oneOf(this.getAttribute("storage"), STORAGE), prefix),
      tab: openShelf("session", prefix),
      lockName: prefix,
      host: this.#host(),
    });
    if (this.open || this.display === "inline") this.#loadMarkdown();
    void this.#conversation.resume().then((resumed) => {
      if (!resumed && (this.open || this.display === "inline")) return this.#conversation?.start();
      return undefined;
    });
  }

  #host(): PageHost {
    return {
      strings: () => this.#language().strings,
      tools: () =>
        listTools(
          [...this.#tools, ...this.#registered.values()],
          oneOf(this.getAttribute("tools"), SOURCES),
          this.toolFilter,
        ),
      confirmTools: () => oneOf(this.getAttribute("confirm-tools"), CONFIRM),
      toolTimeoutMs: () => positive(this.getAttribute("tool-timeout"), 60) * 1000,
      customerContext: () => this.#context,
      isSeen: () => this.#isSeen(),
      show: () => this.#schedule(),
      emit: (name, detail) => this.#emit(name, detail),
    };
  }

  #loadMarkdown(): void {
    void loadMarkdown(ChatAgent.markdown).then(() => this.#schedule());
  }

  #needed(): Conversation {
    if (this.#conversation === null)
      throw new Error("Cannot chat: <chat-agent> has no publishable-key, or is not in the page");
    return this.#conversation;
  }

  #opened(open: boolean): void {
    openShelf("session", this.#prefix()).write("open", open ? true : null);
    this.#emit(open ? "open" : "close", {});
    this.#draw();
    if (!open) return;
    this.#loadMarkdown();
    this.#conversation?.seen();
    void this.#conversation?.start();
  }

  /** The visitor's own hand moves the focus along; a panel that opens by itself leaves it where it was. */
  #toggledByHand(): void {
    this.toggle();
    this.focus();
  }

  #isSeen(): boolean {
    return (this.open || this.display === "inline") && document.visibilityState === "visible";
  }

  #attach(): ShadowRoot {
    const shadow = this.attachShadow({ mode: "open", delegatesFocus: true });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    shadow.adoptedStyleSheets = [sheet];
    return shadow;
  }

  /** Lines come faster than pictures. */
  #schedule(): void {
    if (this.#shadow === null || this.#frame !== 0) return;
    // A hidden tab draws no frames; what a screen reader or a badge shows must not wait for that.
    if (document.visibilityState === "hidden") this.#draw();
    else this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#shadow === null || !this.isConnected) return;
    render(h(Widget, { look: this.#look(), acts: this.#acts }), this.#shadow);
    const frame = this.#shadow.querySelector<HTMLElement>("[popover]");
    if (frame !== null && !frame.matches(":popover-open")) frame.showPopover();
  }

  #look(): Look {
    const language = this.#language();
    const text = (name: "heading" | "placeholder" | "welcome", otherwise: string) =>
      this.getAttribute(name) ?? otherwise;
    return {
      language,
      shown: this.#conversation?.board.shown ?? NOTHING_SHOWN,
      open: this.open,
      inline: this.display === "inline",
      hasLauncher: this.getAttribute("launcher") !== "none",
      heading: text("heading", language.strings.title),
      placeholder: text("placeholder", language.strings.placeholder),
      welcome: text("welcome", language.strings.welcome),
      suggestions: this.#suggestions,
      maxChars: positive(this.getAttribute("max-chars"), 2_000),
    };
  }

  readonly #acts: Acts = {
    toggle: () => this.#toggledByHand(),
    send: (text) => void this.send(text),
    stop: () => void this.stop(),
    retry: () => void this.retry(),
    newThread: () => void this.newThread().then(() => this.focus()),
    earlier: () => void this.#conversation?.earlier(),
    draft: (text) => this.#conversation?.draft(text),
  };

  #language(): Language {
    const own = this.closest("[lang]")?.getAttribute("lang") ?? "";
    return languageOf([own, ...navigator.languages], this.#strings);
  }

  #emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean {
    return this.dispatchEvent(
      new CustomEvent(`chat-agent:${name}`, { detail, bubbles: true, composed: true, cancelable: true }),
    );
  }

  /** Two services, or two channels, on one origin keep apart what they remember. */
  #prefix(): string {
    const base = this.getAttribute("base-url") ?? ChatAgent.home;
    return `chat-agent:${this.getAttribute("publishable-key") ?? ""}@${base}:`;
  }

  #read(name: string): unknown {
    return openShelf("session", this.#prefix()).read(name);
  }

  #upgrade(name: (typeof UPGRADED)[number]): void {
    if (!Object.hasOwn(this, name) || name === "toolFilter") return;
    const value: unknown = Reflect.get(this, name);
    Reflect.deleteProperty(this, name);
    Reflect.set(this, name, value);
  }
}

function checkedContext(context: CustomerContext): CustomerContext {
  for (const [name, value] of Object.entries(context)) {
    if (!["string", "number", "boolean"].includes(typeof value)) {
      throw new TypeError(`Cannot take context: ${name} is neither a string, a number nor a boolean`);
    }
  }
  return { ...context };
}
