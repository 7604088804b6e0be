import { h } from "preact";
import type { VNode } from "preact";
import { Attributes } from "./attributes.ts";
import type { ChatAgentEvents } from "./run/chat-agent-events.ts";
import type { ConversationHost } from "./run/conversation-host.ts";
import { Conversation } from "./run/conversation.ts";
import type { CustomerContext } from "./service/customer-context.ts";
import { openStorage } from "./service/json-storage.ts";
import { toldPage } from "./service/told-page.ts";
import { widgetApiAt } from "./service/widget-api.ts";
import { languageOf } from "./strings/language.ts";
import type { Language } from "./strings/language.ts";
import type { Strings } from "./strings/strings.ts";
import { listTools } from "./tools/list-tools.ts";
import { modelContext } from "./tools/model-context.ts";
import { PropertyTools } from "./tools/property-tools.ts";
import type { ToolShape } from "./tools/tool.ts";
import { loadMarkdown } from "./view/rich-text.tsx";
import type { MarkdownModule } from "./view/rich-text.tsx";
import { ShadowRenderer } from "./view/shadow-renderer.ts";
import { EMPTY_VIEW } from "./view/view-state.ts";
import type { ViewState } from "./view/view-state.ts";
import type { WidgetActions, WidgetProps } from "./view/widget-props.ts";
import { Widget } from "./view/widget.tsx";
import { widgetPropsOf } from "./widget-props-of.ts";

/** Where the script was loaded from. */
export interface ScriptSource {
  /** The service's address where the element has no base-url. */
  url: string;
  loadMarkdown: () => Promise<MarkdownModule>;
}

/** The chat behind one element: its attributes, its conversation, the page's tools, and the drawing of it. */
export class HostedChat {
  readonly attributes: Attributes;
  readonly tools: PropertyTools;
  toolFilter: (tool: ToolShape) => boolean = () => true;
  context: CustomerContext | null = null;
  suggestions: readonly string[] = [];
  strings: Partial<Strings> = {};
  readonly #element: HTMLElement;
  readonly #source: ScriptSource;
  readonly #actions: WidgetActions;
  #conversation: Conversation | null = null;
  /** null until the element is in a page. */
  #renderer: ShadowRenderer | null = null;
  #listening = new AbortController();

  constructor(element: HTMLElement, source: ScriptSource, actions: WidgetActions) {
    this.#element = element;
    this.#source = source;
    this.#actions = actions;
    this.attributes = new Attributes(element, source.url);
    this.tools = new PropertyTools(() => {
      if (element.isConnected) void this.#conversation?.toolsChanged();
    });
  }

  get conversation(): Conversation | null {
    return this.#conversation;
  }

  get state(): ViewState {
    return this.#conversation?.view.state ?? EMPTY_VIEW;
  }

  connected(): void {
    const { attributes } = this;
    this.#renderer ??= new ShadowRenderer(this.#element, () => this.#view());
    this.#listening = new AbortController();
    this.#listen(this.#listening.signal);
    if (!attributes.isInline && openStorage("session", attributes.prefix).read("open") === true)
      attributes.open = true;
    this.#renderer.draw();
    this.#begin();
  }

  disconnected(): void {
    this.#listening.abort();
    this.#renderer?.cancel();
  }

  /** Another publishable key, service or storage makes it another conversation. */
  identityChanged(): void {
    if (this.#renderer === null) return;
    this.#conversation = null;
    this.#begin();
  }

  openChanged(open: boolean): void {
    if (this.#renderer === null) return;
    openStorage("session", this.attributes.prefix).write("open", open ? true : null);
    this.emit(open ? "open" : "close", {});
    this.#renderer.draw();
    if (!open) return;
    this.#loadMarkdown();
    this.#conversation?.markSeen();
    void this.#conversation?.start();
  }

  redraw(): void {
    this.#renderer?.schedule();
  }

  focus(): void {
    this.#renderer?.focus(this.#isPanelShown() ? "textarea" : ".launcher");
  }

  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean {
    return this.#element.dispatchEvent(
      new CustomEvent(`chat-agent:${name}`, { detail, bubbles: true, composed: true, cancelable: true }),
    );
  }

  #begin(): void {
    const { publishableKey, baseUrl, storage, prefix } = this.attributes;
    if (publishableKey === null || this.#conversation !== null) return;
    const conversation = new Conversation({
      api: widgetApiAt(baseUrl),
      publishableKey,
      sharedStorage: openStorage(storage, prefix),
      tabStorage: openStorage("session", prefix),
      lockPrefix: prefix,
      host: this.#host(),
    });
    this.#conversation = conversation;
    if (this.#isPanelShown()) this.#loadMarkdown();
    void conversation.resume().then(async (isResumed) => {
      if (!isResumed && this.#isPanelShown()) await conversation.start();
    });
  }

  #listen(signal: AbortSignal): void {
    const options = { signal };
    const connectionChanged = () => this.#conversation?.connectionChanged();
    window.addEventListener("online", connectionChanged, options);
    window.addEventListener("offline", connectionChanged, options);
    window.addEventListener("storage", (event) => void this.#conversation?.storageChanged(event), options);
    const visibilityChanged = () => this.#isSeen() && this.#conversation?.markSeen();
    document.addEventListener("visibilitychange", visibilityChanged, options);
    modelContext()?.addEventListener("toolchange", () => this.tools.changed(), options);
    const pageShown = ({ persisted }: PageTransitionEvent) => {
      // Back from the browser's page cache: the conversation may have gone on without this page.
      if (persisted) void this.#conversation?.refresh();
    };
    window.addEventListener("pageshow", pageShown, options);
  }

  #host(): ConversationHost {
    const { attributes } = this;
    return {
      strings: () => this.#language().strings,
      tools: () => listTools(this.tools.all, attributes.tools, this.toolFilter),
      confirmTools: () => attributes.confirmTools,
      toolTimeoutMs: () => attributes.toolTimeoutMs,
      customerContext: () => this.context,
      page: () => toldPage(location, attributes.pageParams),
      isSeen: () => this.#isSeen(),
      redraw: () => this.redraw(),
      emit: (name, detail) => this.emit(name, detail),
    };
  }

  #view(): VNode<WidgetProps> {
    const { attributes, state, suggestions } = this;
    const language = this.#language();
    return h(Widget, widgetPropsOf({ attributes, language, state, suggestions, actions: this.#actions }));
  }

  #language(): Language {
    return languageOf([this.attributes.lang, ...navigator.languages], this.strings);
  }

  #isPanelShown(): boolean {
    return this.attributes.open || this.attributes.isInline;
  }

  #isSeen(): boolean {
    return this.#isPanelShown() && document.visibilityState === "visible";
  }

  #loadMarkdown(): void {
    void loadMarkdown(this.#source.loadMarkdown).then(() => this.redraw());
  }
}
