import { IDENTITY, OBSERVED } from "./attributes.ts";
import type { Conversation } from "./run/conversation.ts";
import { checkedContext } from "./service/customer-context.ts";
import type { CustomerContext } from "./service/customer-context.ts";
import { HostedChat } from "./hosted-chat.ts";
import type { Home } from "./hosted-chat.ts";
import type { Phase } from "./view/state.ts";
import type { Strings } from "./strings/strings.ts";
import type { PropertyTool, ToolShape } from "./tools/tool.ts";

/** On a server there are no elements; importing this file there is harmless. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** Set before the element was defined, these would hide its own. */
const UPGRADED = ["tools", "toolFilter", "context", "suggestions", "strings", "open"] as const;

/** `<chat-agent publishable-key="pk_…">`: what a page can do with it. README.md beside this file tells more. */
export class ChatAgent extends Base {
  static readonly observedAttributes: readonly string[] = OBSERVED;
  static home: Home = { url: "", markdown: () => Promise.reject(new Error("no renderer was named")) };

  readonly version = __VERSION__;
  readonly #chat = new HostedChat(this, ChatAgent.home, {
    // The visitor's own hand moves the focus along; a panel that opens by itself leaves it where it was.
    toggle: () => (this.toggle(), this.focus()),
    send: (text) => void this.send(text),
    stop: () => void this.stop(),
    retry: () => void this.retry(),
    newThread: () => void this.newThread().then(() => this.focus()),
    earlier: () => void this.#chat.conversation?.earlier(),
    draft: (text) => this.#chat.conversation?.draft(text),
  });

  connectedCallback(): void {
    for (const name of UPGRADED) this.#upgrade(name);
    this.#chat.connected();
    this.#chat.emit("ready", { version: this.version });
  }

  disconnectedCallback(): void {
    this.#chat.disconnected();
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now) return;
    if (IDENTITY.has(name)) this.#chat.identityChanged();
    if (name === "tools") this.refreshTools();
    if (name === "open") this.#chat.opened(now !== null);
    this.#chat.redraw();
  }

  get open(): boolean {
    return this.#chat.attributes.open;
  }

  set open(open: boolean) {
    this.#chat.attributes.open = open;
  }

  /** Tools of the page; replaces those that were set before. */
  get tools(): PropertyTool[] {
    return this.#chat.tools.set;
  }

  set tools(tools: PropertyTool[]) {
    this.#chat.tools.replace(tools);
  }

  /** Only tools for which it returns true are offered. */
  get toolFilter(): (tool: ToolShape) => boolean {
    return this.#chat.toolFilter;
  }

  set toolFilter(isOffered: (tool: ToolShape) => boolean) {
    this.#chat.toolFilter = isOffered;
    this.refreshTools();
  }

  /** Sent with every message; values are strings, numbers and booleans, as the service takes them. */
  get context(): CustomerContext | null {
    return this.#chat.context;
  }

  set context(context: CustomerContext | null) {
    this.#chat.context = context === null ? null : checkedContext(context);
  }

  get suggestions(): readonly string[] {
    return this.#chat.suggestions;
  }

  set suggestions(suggestions: readonly string[]) {
    this.#chat.suggestions = suggestions;
    this.#chat.redraw();
  }

  /** Words of the page's own, in place of the built-in ones. */
  get strings(): Partial<Strings> {
    return this.#chat.strings;
  }

  set strings(strings: Partial<Strings>) {
    this.#chat.strings = strings;
    this.#chat.redraw();
  }

  get state(): Phase {
    return this.#chat.shown.phase;
  }

  get threadId(): string | null {
    return this.#chat.conversation?.desk.threadId ?? null;
  }

  get unreadCount(): number {
    return this.#chat.shown.unread;
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
    this.#chat.focus();
  }

  /** Resolves when the run has ended, however it did. */
  async send(text: string, options: { context?: CustomerContext } = {}): Promise<void> {
    const context = options.context === undefined ? this.context : checkedContext(options.context);
    await this.#needed().send(text.trim(), context);
  }

  async stop(): Promise<void> {
    await this.#chat.conversation?.stop();
  }

  async retry(): Promise<void> {
    await this.#chat.conversation?.retry();
  }

  async newThread(): Promise<void> {
    await this.#needed().newThread();
  }

  /** Loads the conversation again: after the visitor was identified, it may hold more. */
  async refresh(): Promise<void> {
    await this.#chat.conversation?.refresh();
  }

  /** Forgets the visitor and all that was said in this browser: for a page's log-out. */
  async reset(): Promise<void> {
    await this.#needed().reset();
  }

  /** Adds a tool, with the shape of WebMCP's own registerTool; the signal takes it away. */
  registerTool(tool: PropertyTool, { signal }: { signal?: AbortSignal } = {}): void {
    this.#chat.tools.register(tool, signal);
  }

  /** Tells the service of the page's tools, where they changed. */
  refreshTools(): void {
    this.#chat.tools.changed();
  }

  #needed(): Conversation {
    const { conversation } = this.#chat;
    if (conversation === null)
      throw new Error("Cannot chat: <chat-agent> has no publishable-key, or is not in the page");
    return conversation;
  }

  #upgrade(name: (typeof UPGRADED)[number]): void {
    if (!Object.hasOwn(this, name)) return;
    const value: unknown = Reflect.get(this, name);
    Reflect.deleteProperty(this, name);
    Reflect.set(this, name, value);
  }
}
