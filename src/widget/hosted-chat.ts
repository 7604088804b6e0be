import { h } from "preact";
import type { VNode } from "preact";
import { Attributes } from "./attributes.ts";
import { Conversation } from "./run/conversation.ts";
import type { CustomerContext } from "./service/customer-context.ts";
import { GivenTools } from "./tools/given-tools.ts";
import { languageOf } from "./strings/language.ts";
import type { Language } from "./strings/language.ts";
import type { ChatAgentEvents, PageHost } from "./run/page-host.ts";
import { modelContext } from "./tools/model-context.ts";
import { Stage } from "./view/stage.ts";
import { NOTHING_SHOWN } from "./view/state.ts";
import type { Shown } from "./view/state.ts";
import { openShelf } from "./service/storage.ts";
import type { Strings } from "./strings/strings.ts";
import { listTools } from "./tools/list-tools.ts";
import type { ToolShape } from "./tools/tool.ts";
import { serviceAt } from "./service/transport.ts";
import { loadMarkdown } from "./view/rich-text.tsx";
import type { MarkdownRenderer } from "./view/rich-text.tsx";
import { Widget } from "./view/widget.tsx";
import type { WidgetActions, WidgetProps } from "./view/widget-props.ts";
import { widgetPropsOf } from "./widget-props-of.ts";

/** Where the code came from: the service's address unless the element names one, and the markdown renderer's file. */
export interface Home {
  url: string;
  markdown: () => Promise<{ renderMarkdown: MarkdownRenderer }>;
}

/** What an element holds together: its attributes, the conversation, the page's tools, and where all of it is drawn. */
export class HostedChat {
  readonly attributes: Attributes;
  readonly tools: GivenTools;
  toolFilter: (tool: ToolShape) => boolean = () => true;
  context: CustomerContext | null = null;
  suggestions: readonly string[] = [];
  strings: Partial<Strings> = {};
  readonly #element: HTMLElement;
  readonly #home: Home;
  readonly #actions: WidgetActions;
  #conversation: Conversation | null = null;
  #stage: Stage | null = null;
  #leaves = new AbortController();

  constructor(element: HTMLElement, home: Home, actions: WidgetActions) {
    this.#element = element;
    this.#home = home;
    this.#actions = actions;
    this.attributes = new Attributes(element, home.url);
    this.tools = new GivenTools(() => {
      if (element.isConnected) void this.#conversation?.toolsChanged();
    });
  }

  get conversation(): Conversation | null {
    return this.#conversation;
  }

  get shown(): Shown {
    return this.#conversation?.board.shown ?? NOTHING_SHOWN;
  }

  get isInline(): boolean {
    return this.attributes.display === "inline";
  }

  /** The element came into the page. */
  connected(): void {
    const { attributes } = this;
    this.#stage ??= new Stage(this.#element, () => this.#view());
    this.#leaves = new AbortController();
    this.#listen(this.#leaves.signal);
    if (!this.isInline && openShelf("session", attributes.prefix).read("open") === true)
      attributes.open = true;
    this.#stage.draw();
    this.begin();
  }

  disconnected(): void {
    this.#leaves.abort();
    this.#stage?.leave();
  }

  /** Another publishable key, service or storage makes it another conversation. */
  identityChanged(): void {
    if (this.#stage === null) return;
    this.#conversation = null;
    this.begin();
  }

  begin(): void {
    const { publishableKey, baseUrl, storage, prefix } = this.attributes;
    if (publishableKey === null || this.#conversation !== null) return;
    const conversation = new Conversation({
      service: serviceAt(baseUrl),
      publishableKey,
      shelf: openShelf(storage, prefix),
      tab: openShelf("session", prefix),
      lockName: prefix,
      host: this.#host(),
    });
    this.#conversation = conversation;
    if (this.#isOnView()) this.#loadMarkdown();
    void conversation.resume().then(async (resumed) => {
      if (!resumed && this.#isOnView()) await conversation.start();
    });
  }

  opened(open: boolean): void {
    if (this.#stage === null) return;
    openShelf("session", this.attributes.prefix).write("open", open ? true : null);
    this.emit(open ? "open" : "close", {});
    this.#stage.draw();
    if (!open) return;
    this.#loadMarkdown();
    this.#conversation?.seen();
    void this.#conversation?.start();
  }

  redraw(): void {
    this.#stage?.schedule();
  }

  focus(): void {
    this.#stage?.focus(this.#isOnView() ? "textarea" : ".launcher");
  }

  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean {
    return this.#element.dispatchEvent(
      new CustomEvent(`chat-agent:${name}`, { detail, bubbles: true, composed: true, cancelable: true }),
    );
  }

  #listen(signal: AbortSignal): void {
    const on = (target: EventTarget | null, type: string, listener: (event: Event) => void) =>
      target?.addEventListener(type, listener, { signal });
    on(window, "online", () => this.#conversation?.connectionChanged());
    on(window, "offline", () => this.#conversation?.connectionChanged());
    on(window, "storage", (event) => void this.#conversation?.otherTab(event as StorageEvent));
    on(document, "visibilitychange", () => this.#isSeen() && this.#conversation?.seen());
    on(modelContext(), "toolchange", () => this.tools.changed());
    // Back from the browser's page cache: the conversation may have gone on without this page.
    on(window, "pageshow", (event) => {
      if ((event as PageTransitionEvent).persisted) void this.#conversation?.refresh();
    });
  }

  #host(): PageHost {
    const { attributes } = this;
    return {
      strings: () => this.#language().strings,
      tools: () => listTools(this.tools.all, attributes.tools, this.toolFilter),
      confirmTools: () => attributes.confirmTools,
      toolTimeoutMs: () => attributes.toolTimeoutMs,
      customerContext: () => this.context,
      isSeen: () => this.#isSeen(),
      redraw: () => this.redraw(),
      emit: (name, detail) => this.emit(name, detail),
    };
  }

  #view(): VNode<WidgetProps> {
    const { attributes, shown, suggestions } = this;
    const language = this.#language();
    return h(Widget, widgetPropsOf({ attributes, language, shown, suggestions, actions: this.#actions }));
  }

  #language(): Language {
    return languageOf([this.attributes.lang, ...navigator.languages], this.strings);
  }

  #isOnView(): boolean {
    return this.attributes.open || this.isInline;
  }

  #isSeen(): boolean {
    return this.#isOnView() && document.visibilityState === "visible";
  }

  #loadMarkdown(): void {
    void loadMarkdown(this.#home.markdown).then(() => this.redraw());
  }
}
