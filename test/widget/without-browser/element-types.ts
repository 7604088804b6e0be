import type { ChatAgent } from "../../../src/widget/chat-agent.ts";
import type * as declared from "../../../src/widget/element.d.ts";
import type { ChatAgentEvents } from "../../../src/widget/run/chat-agent-events.ts";
import type { Strings } from "../../../src/widget/strings/strings.ts";

/** What element.d.ts tells against what the code has; `npm run types` judges it, and nothing here is ever run. */

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Called by the browser alone. */
type Lifecycle = "connectedCallback" | "disconnectedCallback" | "attributeChangedCallback";
type Own<Element> = Exclude<keyof Element, Exclude<keyof HTMLElement, "focus"> | Lifecycle>;

type Real = Pick<ChatAgent, Own<ChatAgent>>;
type Declared = Pick<declared.ChatAgent, Own<declared.ChatAgent>>;
type Settable = Pick<ChatAgent, keyof declared.ChatAgentProperties>;

export const truths: {
  names: Same<keyof Real, keyof Declared>;
  members: Same<Real, Declared>;
  settable: Same<Settable, declared.ChatAgentProperties>;
  eventNames: Same<keyof ChatAgentEvents, keyof declared.ChatAgentEvents>;
  // One way: an error's code is any text to a page, as others may come one day.
  events: ChatAgentEvents extends declared.ChatAgentEvents ? true : false;
  strings: Same<keyof Strings, declared.ChatAgentString>;
} = { names: true, members: true, settable: true, eventNames: true, events: true, strings: true };
