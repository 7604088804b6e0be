import { h } from "preact";
import type { VNode } from "preact";
import { Attributes } from "./attributes.ts";
import type { ChatAgentEvents } from "./run/chat-agent-events.ts";
import type { ConversationHost } from "./run/conversation-host.ts";
import type { Conversation } from "./run/conversation.ts";
import type { CustomerContext } from "./service/customer-context.ts";
import { openStorage } from "./service/json-storage.ts";
import { MAX_PAGE_CHARS } from "./service/told-page.ts";
import { widgetApiAt } from "./service/widget-api.ts";
import { LANGUAGE_TAG, languageOf } from "./strings/language.ts";
import type { Language } from "./strings/language.ts";
import type { Strings } from "./strings/strings.ts";
import { modelContext } from "./tools/model-context.ts";
import { annotationsOf, watchRegistrations } from "./tools/registered-marks.ts";
import { PropertyTools } from "./tools/property-tools.ts";
import type { ToolShape } from "./tools/tool.ts";
import { hasPanelFailed, isPanelSettled, loadPanel, panelModule } from "./view/panel-module.ts";
import { ShadowRenderer } from "./view/shadow-renderer.ts";
import { EMPTY_VIEW } from "./view/view-state.ts";
import type { ViewState } from "./view/view-state.ts";
import type { WidgetActions, WidgetProps } from "./view/widget-props.ts";
import { Widget } from "./view/widget.tsx";
import type { PanelPart } from "./panel-part.ts";
import { pageConversation } from "./page-conversation.ts";
import type { PageConversation } from "./page-conversation.ts";
import { widgetPropsOf } from "./widget-props-of.ts";

/** Where the script was loaded from. */
export interface ScriptSource {
  /** The service's address if the element has no base-url. */
  url: string;
  /** Loads the code that is not needed before the panel opens. */
  load: () => Promise<PanelPart>;
}

/** null until it is loaded. */
let part: PanelPart | null = null;

/** The chat behind one element: its attributes, its conversation, the page's tools, and the rendering. */
export class HostedChat {
  readonly attributes: Attributes;
  readonly tools: PropertyTools;
  toolFilter: (tool: ToolShape) => boolean = () => true;
  context: CustomerContext | null = null;
  suggestions: readonly string[] = [];
  /** What to choose from after a reply, and the visitor's message that it was set after. */
  #followUps: { texts: readonly string[]; said: string | undefined } = { texts: [], said: undefined };
  strings: Partial<Strings> = {};
  readonly #element: HTMLElement;
  readonly #source: ScriptSource;
  readonly #actions: WidgetActions;
  readonly #host: ConversationHost;
  #page: PageConversation | null = null;
  /** The panel gets the focus once it is loaded. */
  #wantsFocus = false;
  /** Set by the page before there was a conversation. */
  #given: { threadId?: string | null; draft?: string } = {};
  #titles = new Map<string, string | undefined>();
  #spoken: { key: readonly unknown[]; language: Language } | null = null;
  /** null until the element is in a page. */
  #renderer: ShadowRenderer | null = null;
  #listening = new AbortController();

  constructor(element: HTMLElement, source: ScriptSource, actions: WidgetActions) {
    this.#element = element;
    this.#source = source;
    this.#actions = actions;
    this.attributes = new Attributes(element, source.url);
    this.tools = new PropertyTools(() => {
      if (element.isConnected) void this.conversation?.toolsChanged();
    });
    this.#host = this.#asHost();
  }

  get conversation(): Conversation | null {
    return this.#page?.conversation ?? null;
  }

  get threadId(): string | null {
    return this.conversation?.visitor.threadId ?? this.#given.threadId ?? null;
  }

  set threadId(threadId: string | null) {
    const { conversation } = this;
    if (conversation === null) this.#given.threadId = threadId;
    else if (threadId === null) void conversation.newThread();
    else void conversation.enterThread(threadId);
  }

  get draft(): string {
    return this.conversation?.view.state.draft ?? this.#given.draft ?? "";
  }

  set draft(text: string) {
    const { conversation } = this;
    if (conversation === null) this.#given.draft = text;
    else conversation.writeDraft(text);
  }

  get state(): ViewState {
    return (
      this.conversation?.view.state ?? (this.attributes.publishableKey === null ? this.#noKey() : EMPTY_VIEW)
    );
  }

  /** Shown until the visitor writes on. */
  get followUps(): readonly string[] {
    const { texts, said } = this.#followUps;
    return said === this.#lastSaid() ? texts : [];
  }

  set followUps(texts: readonly string[]) {
    this.#followUps = { texts, said: this.#lastSaid() };
    this.redraw();
  }

  #lastSaid(): string | undefined {
    return this.state.messages.findLast(({ role }) => role === "user")?.key;
  }

  #noKey(): ViewState {
    const notice = { text: this.#language().strings.misconfigured, alert: true };
    return { ...EMPTY_VIEW, phase: "blocked", notice };
  }

  connected(): void {
    const { attributes } = this;
    this.#renderer ??= new ShadowRenderer(this.#element, () => this.#view());
    this.#listening = new AbortController();
    this.#listen(this.#listening.signal);
    if (!attributes.isInline && openStorage("session", attributes.prefix).read("open") === true)
      attributes.open = true;
    this.#renderer.draw();
    this.#renderer.fit(this.#listening.signal);
    this.#begin();
  }

  disconnected(): void {
    this.#listening.abort();
    this.#renderer?.cancel();
    this.#page?.leave(this.#host);
    this.conversation?.lookChanged();
  }

  /** A change of publishable key, service or storage switches to another conversation. */
  identityChanged(): void {
    this.#page?.leave(this.#host);
    this.#page = null;
    if (this.#renderer !== null && this.#element.isConnected) this.#begin();
  }

  openChanged(open: boolean): void {
    if (this.#renderer === null) return;
    openStorage("session", this.attributes.prefix).write("open", open ? true : null);
    this.emit(open ? "open" : "close", {});
    this.#renderer.draw();
    this.conversation?.lookChanged();
    if (!open) return;
    if (this.attributes.publishableKey === null)
      console.warn("chat-agent: the element has no publishable-key");
    void this.#loadPanel();
    void this.conversation?.start();
  }

  /** Loads what is in the panel, which is about to be opened, or did not load before. */
  approach(): void {
    void (this.#isPanelShown() ? this.#loadPanel() : this.#loadPart());
    this.redraw();
  }

  redraw(): void {
    this.#renderer?.schedule();
  }

  /** `inPanel`: selector of the element that gets the focus if the panel is shown. */
  focus(inPanel = this.state.confirmation === null ? "textarea" : ".confirm"): void {
    this.#wantsFocus = this.#isPanelShown() && !isPanelSettled();
    // The element to focus may not be rendered yet.
    this.#renderer?.draw();
    this.#renderer?.focus(this.#isPanelShown() ? inPanel : ".launcher");
  }

  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean {
    return this.#element.dispatchEvent(
      new CustomEvent(`chat-agent:${name}`, { detail, bubbles: true, composed: true, cancelable: true }),
    );
  }

  #begin(): void {
    const { publishableKey, baseUrl, storage, prefix } = this.attributes;
    if (publishableKey === null) return;
    this.#page = pageConversation(prefix + storage, () => ({
      api: widgetApiAt(baseUrl),
      publishableKey,
      sharedStorage: openStorage(storage, prefix),
      tabStorage: openStorage("session", prefix),
      lockPrefix: prefix,
    }));
    const { conversation } = this.#page;
    const isKnown = this.#page.join(this.#host);
    if (this.#isPanelShown() || conversation.isFresh) void this.#loadPanel();
    this.redraw();
    const { draft, threadId } = this.#given;
    this.#given = {};
    if (draft !== undefined) conversation.writeDraft(draft);
    if (typeof threadId === "string" && threadId !== conversation.visitor.threadId)
      return void conversation.enterThread(threadId);
    conversation.lookChanged();
    if (isKnown) {
      if (this.#isPanelShown()) void conversation.shownAgain();
      return;
    }
    void conversation.resume().then(async (isResumed) => {
      if (!isResumed && (this.#isPanelShown() || conversation.isFresh)) await conversation.start();
    });
  }

  #listen(signal: AbortSignal): void {
    const options = { signal };
    const connectionChanged = () => this.conversation?.connectionChanged();
    window.addEventListener("online", connectionChanged, options);
    window.addEventListener("offline", connectionChanged, options);
    window.addEventListener("storage", (event) => void this.conversation?.storageChanged(event), options);
    const visibilityChanged = () => this.conversation?.lookChanged();
    document.addEventListener("visibilitychange", visibilityChanged, options);
    modelContext()?.addEventListener("toolchange", () => this.tools.changed(), options);
    const pageShown = ({ persisted }: PageTransitionEvent) => {
      // Back from the browser's page cache: the conversation may have continued meanwhile.
      if (persisted) void this.conversation?.wokenUp();
    };
    window.addEventListener("pageshow", pageShown, options);
  }

  #asHost(): ConversationHost {
    const { attributes } = this;
    const toolPart = async () => {
      if (!isPanelSettled()) await this.#loadPanel();
      return part;
    };
    return {
      strings: () => this.#language().strings,
      tools: async () => {
        // A page may have got its model context after the script ran.
        watchRegistrations(modelContext());
        const { tools: sources } = attributes;
        const loaded = await toolPart();
        const tools =
          (await loaded?.listTools(this.tools.all, sources, this.toolFilter, annotationsOf)) ?? [];
        this.#titles = new Map(tools.map(({ name, title }) => [name, title]));
        return tools;
      },
      toolPart,
      // A browser may list a tool without a title as one with an empty title.
      titleOf: (tool) => this.#titles.get(tool) || undefined,
      toolsSettled: () => this.tools.settled(),
      confirmTools: () => attributes.confirmTools,
      toolTimeoutMs: () => attributes.toolTimeoutMs,
      customerContext: () => this.context,
      // Without the second file nobody knows which parameters are secrets.
      page: () =>
        part?.toldPage(location, attributes.pageParams) ?? location.pathname.slice(0, MAX_PAGE_CHARS),
      locale: () => [attributes.lang, navigator.language].find((tag) => LANGUAGE_TAG.test(tag)),
      isSeen: () => this.#isSeen(),
      isInView: () => this.#isInView(),
      alerts: () => attributes.text("alerts") !== "off",
      redraw: () => this.redraw(),
      emit: (name, detail) => this.emit(name, detail),
    };
  }

  #view(): VNode<WidgetProps> {
    const { attributes, state, suggestions, followUps } = this;
    const language = this.#language();
    const hasFailed = hasPanelFailed();
    const { conversation } = this;
    const hasThreads = (conversation?.threads ?? null) !== null && conversation?.visitor.isUnknown === false;
    const actions = this.#actions;
    const options = { attributes, language, state, suggestions, followUps, hasFailed, hasThreads, actions };
    return h(Widget, widgetPropsOf(options));
  }

  /** Returns the same object until the language changes, so that components need not render again. */
  #language(): Language {
    const wanted = [this.attributes.lang, ...navigator.languages];
    const translations = panelModule()?.translations ?? null;
    const key = [wanted.join(), this.strings, translations] as const;
    if (this.#spoken?.key.every((part, at) => part === key[at]) !== true)
      this.#spoken = { key, language: languageOf(wanted, this.strings, translations) };
    return this.#spoken.language;
  }

  #isPanelShown(): boolean {
    return this.attributes.open || this.attributes.isInline;
  }

  #isSeen(): boolean {
    return this.#isPanelShown() && this.#isInView();
  }

  #isInView(): boolean {
    return this.#element.isConnected && document.visibilityState === "visible";
  }

  /** Loads the second file, and asks what the channel allows. */
  async #loadPanel(): Promise<void> {
    await this.#loadPart();
    const { baseUrl, publishableKey } = this.attributes;
    const { readChannel } = part ?? {};
    if (readChannel !== undefined && publishableKey !== null)
      this.conversation?.learn(() => readChannel(baseUrl, publishableKey));
  }

  async #loadPart(): Promise<void> {
    await loadPanel(async () => (part = await this.#source.load()));
    if (part !== null) this.conversation?.complete(part);
    if (this.#renderer === null) return;
    this.#renderer.draw();
    this.#renderer.fit(this.#listening.signal);
    if (this.#wantsFocus) this.focus();
  }
}
