import { IDENTITY, OBSERVED } from "./attributes.ts";
import { HostedChat } from "./hosted-chat.ts";
import type { ScriptSource } from "./hosted-chat.ts";
import type { Conversation } from "./run/conversation.ts";
import { checkedContext } from "./service/customer-context.ts";
import type { CustomerContext } from "./service/customer-context.ts";
import type { Strings } from "./strings/strings.ts";
import type { PropertyTool, ToolShape } from "./tools/tool.ts";
import type { ChatPhase } from "./view/view-state.ts";

/** A server has no HTMLElement; importing this file there must not throw. The cast: the class is never instantiated. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** Properties that a page may set before the element is defined; not upgraded, they would hide the accessors. */
const UPGRADED = [
  "tools",
  "toolFilter",
  "context",
  "suggestions",
  "followUps",
  "strings",
  "open",
  "draft",
  "threadId",
] as const;

/** `<chat-agent publishable-key="pk_…">`: the interface for pages. See the README.md of this folder. */
export class ChatAgent extends Base {
  static readonly observedAttributes: readonly string[] = OBSERVED;
  static source: ScriptSource = {
    url: "",
    load: () => Promise.reject(new Error("no second file")),
  };

  readonly version = __VERSION__;
  readonly #chat = new HostedChat(this, ChatAgent.source, {
    // The focus moves when the visitor clicks, but not when the page opens the panel.
    toggle: () => (this.toggle(), this.focus()),
    expand: () => void this.toggleAttribute("expanded"),
    approach: () => this.#chat.approach(),
    send: (text) => void this.#chat.conversation?.sendDraft(text.trim(), this.context),
    stop: () => void this.stop(),
    retry: (key) => void this.#chat.conversation?.retry(key),
    follow: (href) => this.#chat.emit("link", { href }),
    queue: (text) => this.#chat.conversation?.queue(text),
    reload: () => void this.#chat.conversation?.reload(),
    newThread: () => void this.newThread().then(() => this.focus()),
    threads: () => void this.#chat.conversation?.threads?.open(),
    moreThreads: () => void this.#chat.conversation?.threads?.more(),
    closeThreads: () => (this.#chat.conversation?.threads?.close(), this.#chat.focus(".list")),
    enterThread: (threadId) => {
      void this.#chat.conversation?.enterThread(threadId);
      this.#chat.focus(".log");
    },
    earlier: () => void this.#chat.conversation?.loadEarlier(),
    draft: (text) => this.#chat.conversation?.writeDraft(text),
    addImages: (files) => this.#chat.conversation?.attachments.addImages(files),
    removeImage: (nth) => this.#chat.conversation?.attachments.removeImage(nth),
  });

  /** `ready` is emitted once, even if the element is moved within its page. */
  #isReady = false;

  connectedCallback(): void {
    for (const name of UPGRADED) this.#upgrade(name);
    this.#chat.connected();
    if (!this.#isReady) this.#chat.emit("ready", { version: this.version });
    this.#isReady = true;
  }

  disconnectedCallback(): void {
    this.#chat.disconnected();
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now) return;
    if (IDENTITY.includes(name)) this.#chat.identityChanged();
    if (name === "tools") this.refreshTools();
    if (name === "open") this.#chat.openChanged(now !== null);
    this.#chat.redraw();
  }

  get open(): boolean {
    return this.#chat.attributes.open;
  }

  set open(open: boolean) {
    this.#chat.attributes.open = open;
  }

  /** The page's tools. Setting them replaces the ones set before. */
  get tools(): PropertyTool[] {
    return this.#chat.tools.assigned;
  }

  /** null and undefined, here and in the other properties: frameworks unset a property that way. */
  set tools(tools: PropertyTool[] | null | undefined) {
    this.#chat.tools.assign(tools ?? []);
  }

  /** Only tools for which it returns true are offered. */
  get toolFilter(): (tool: ToolShape) => boolean {
    return this.#chat.toolFilter;
  }

  set toolFilter(isOffered: ((tool: ToolShape) => boolean) | null | undefined) {
    this.#chat.toolFilter = isOffered ?? (() => true);
    this.refreshTools();
  }

  /** Sent with every message. */
  get context(): CustomerContext | null {
    return this.#chat.context;
  }

  set context(context: CustomerContext | null | undefined) {
    this.#chat.context = context ? checkedContext(context) : null;
  }

  get suggestions(): readonly string[] {
    return this.#chat.suggestions;
  }

  set suggestions(suggestions: readonly string[] | null | undefined) {
    this.#chat.suggestions = suggestions ?? [];
    this.#chat.redraw();
  }

  /** Messages to choose from after the last reply, until the visitor writes on. */
  get followUps(): readonly string[] {
    return this.#chat.followUps;
  }

  set followUps(texts: readonly string[] | null | undefined) {
    this.#chat.followUps = texts ?? [];
  }

  /** Replacements for the built-in texts. */
  get strings(): Partial<Strings> {
    return this.#chat.strings;
  }

  set strings(strings: Partial<Strings> | null | undefined) {
    this.#chat.strings = strings ?? {};
    this.#chat.redraw();
  }

  get state(): ChatPhase {
    return this.#chat.state.phase;
  }

  get threadId(): string | null {
    return this.#chat.threadId;
  }

  /** Shows another conversation of the visitor; null begins a new one. */
  set threadId(threadId: string | null | undefined) {
    if (threadId !== undefined) this.#chat.threadId = threadId;
  }

  /** The text in the composer, not sent yet. */
  get draft(): string {
    return this.#chat.draft;
  }

  set draft(text: string | null | undefined) {
    this.#chat.draft = text ?? "";
  }

  get unreadCount(): number {
    return this.#chat.state.unread;
  }

  /** The token by which the page's backend identifies the visitor. Creates a visitor if there is none. */
  async getVisitorToken(): Promise<string> {
    return await this.#requiredConversation().visitor.token();
  }

  /** Replaces the visitor's token with the rotated one that identify returned. */
  async setVisitorToken(visitorToken: string): Promise<void> {
    this.#requiredConversation().visitor.replaceToken(visitorToken);
    await this.refresh();
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

  /** Resolves when the run has ended, well or badly. */
  async send(text: string, options: { context?: CustomerContext } = {}): Promise<void> {
    const context = options.context === undefined ? this.context : checkedContext(options.context);
    const trimmed = text.trim();
    const { maxChars } = this.#chat.attributes;
    if (trimmed.length > maxChars)
      throw new RangeError(`Cannot send: ${trimmed.length} characters, max-chars is ${maxChars}`);
    await this.#requiredConversation().send(trimmed, context);
  }

  async stop(): Promise<void> {
    await this.#chat.conversation?.stop();
  }

  async retry(): Promise<void> {
    await this.#chat.conversation?.retry();
  }

  async newThread(): Promise<void> {
    await this.#requiredConversation().newThread();
  }

  /** Loads the history again: it may hold more after the visitor was identified. */
  async refresh(): Promise<void> {
    await this.#chat.conversation?.refresh();
  }

  /** Forgets the visitor and the conversation in this browser: for the page's log-out. */
  async reset(): Promise<void> {
    await this.#requiredConversation().reset();
  }

  /** Adds a tool, as WebMCP's registerTool does; the signal removes it. */
  registerTool(tool: PropertyTool, { signal }: { signal?: AbortSignal } = {}): void {
    this.#chat.tools.register(tool, signal);
  }

  /** Posts the page's tools, if they have changed. */
  refreshTools(): void {
    this.#chat.tools.changed();
  }

  #requiredConversation(): Conversation {
    const { conversation } = this.#chat;
    if (conversation === null)
      throw new Error("Cannot chat: the element has no publishable-key, or is not in the page");
    return conversation;
  }

  #upgrade(name: (typeof UPGRADED)[number]): void {
    if (!Object.hasOwn(this, name)) return;
    const value: unknown = Reflect.get(this, name);
    Reflect.deleteProperty(this, name);
    Reflect.set(this, name, value);
  }
}
