import type { ConversationHost } from "./run/conversation-host.ts";
import { Conversation } from "./run/conversation.ts";
import type { ConversationOptions } from "./run/conversation.ts";

/**
 * One conversation of a page, and the elements that show it. Frameworks may replace the element, even during a run: the
 * conversation stays, and the new element shows its current state.
 */
export class PageConversation {
  readonly conversation: Conversation;
  /** The last one represents the page: its tools, its texts, its events. Never empty after the first `join`. */
  readonly #hosts = new Set<ConversationHost>();
  /** The last element has left; it represents the page until another one joins. */
  #isLeft = false;

  constructor(options: Omit<ConversationOptions, "host">) {
    this.conversation = new Conversation({ ...options, host: this.#relay() });
  }

  /** Returns false for the first element, with which the conversation begins. */
  join(host: ConversationHost): boolean {
    const isKnown = this.#hosts.size > 0;
    if (this.#isLeft) this.#hosts.clear();
    this.#isLeft = false;
    this.#hosts.delete(host);
    this.#hosts.add(host);
    return isKnown;
  }

  leave(host: ConversationHost): void {
    if (this.#hosts.size > 1) this.#hosts.delete(host);
    else this.#isLeft = this.#hosts.has(host);
  }

  get #speaker(): ConversationHost {
    const speaker = [...this.#hosts].at(-1);
    if (speaker === undefined) throw new Error("No element");
    return speaker;
  }

  #relay(): ConversationHost {
    return {
      strings: () => this.#speaker.strings(),
      tools: () => this.#speaker.tools(),
      toolPart: () => this.#speaker.toolPart(),
      titleOf: (tool) => this.#speaker.titleOf(tool),
      toolsSettled: () => this.#speaker.toolsSettled(),
      confirmTools: () => this.#speaker.confirmTools(),
      toolTimeoutMs: () => this.#speaker.toolTimeoutMs(),
      customerContext: () => this.#speaker.customerContext(),
      page: () => this.#speaker.page(),
      locale: () => this.#speaker.locale(),
      isSeen: () => [...this.#hosts].some((host) => host.isSeen()),
      isInView: () => [...this.#hosts].some((host) => host.isInView()),
      alerts: () => this.#speaker.alerts(),
      redraw: () => this.#hosts.forEach((host) => host.redraw()),
      emit: (name, detail) => this.#speaker.emit(name, detail),
    };
  }
}

/** By key, service and storage, which identify a conversation. */
const conversations = new Map<string, PageConversation>();

/** The page's conversation of this name; creates it if there is none. */
export function pageConversation(
  name: string,
  options: () => Omit<ConversationOptions, "host">,
): PageConversation {
  const known = conversations.get(name);
  if (known !== undefined) return known;
  const made = new PageConversation(options());
  conversations.set(name, made);
  return made;
}
