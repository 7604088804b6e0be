import type { MessageFile } from "../files/message-file.ts";
import type { MessageImage } from "../images/message-image.ts";
import { EMPTY_VIEW, isRunning } from "./view-state.ts";
import type { ChatPhase, Problem, ShownMessage, ViewState } from "./view-state.ts";

/** Holds the view's state; every change goes through here. */
export class ViewModel {
  readonly #onChange: (now: ViewState, before: ViewState) => void;
  #state: ViewState;
  #keys = 0;
  /** Keys of the message that was sent last, and of its reply. */
  #sent: readonly string[] = [];

  constructor(draft: string, onChange: (now: ViewState, before: ViewState) => void) {
    this.#onChange = onChange;
    this.#state = { ...EMPTY_VIEW, draft, phase: restingPhase() };
  }

  get state(): ViewState {
    return this.#state;
  }

  get isRunning(): boolean {
    return isRunning(this.#state.phase);
  }

  /** The message that is being sent, and its reply; empty if there is none. */
  get sending(): ShownMessage[] {
    if (this.#state.phase !== "sending") return [];
    return this.#state.messages.filter(({ key }) => this.#sent.includes(key));
  }

  change(change: Partial<ViewState>): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    this.#onChange(this.#state, before);
  }

  setPhase(phase: ChatPhase): void {
    if (this.#state.phase !== phase) this.change({ phase });
  }

  notify(text: string, alert: boolean): void {
    this.change({ notice: { text, alert } });
  }

  /**
   * Adds a visitor's message at the end, and its reply behind it. A message that was sent before, and is in the history
   * by now, stays where it is, and so does a reply that the history has.
   */
  addSent({ text, images, files, clientMessageId }: SentMessage): {
    sent: ShownMessage;
    reply: ShownMessage;
  } {
    const { messages } = this.#state;
    const index = messages.findIndex((message) => message.clientMessageId === clientMessageId);
    const before = messages[index];
    const next = messages[index + 1];
    if (before !== undefined) {
      if (next?.role === "assistant") this.remove(next.key);
      this.remove(before.key);
    }
    let sent = before;
    if (sent === undefined || sent.id === null)
      sent = this.#add({ role: "user", text, images, files, clientMessageId, live: false, atMs: Date.now() });
    else this.edit(sent.key, (message) => ({ ...message, problem: null }));
    const at = this.#state.messages.findIndex(({ key }) => key === sent.key) + 1;
    const known = this.#state.messages[at];
    const reply = known?.role === "assistant" ? known : this.addReply(at);
    this.#sent = [sent.key, reply.key];
    // Cleared, so that a reply equal to the previous one is announced too.
    this.change({ announcement: "" });
    return { sent, reply };
  }

  /** Adds a live reply without text, at the end or at this position. */
  addReply(at = this.#state.messages.length): ShownMessage {
    return this.#add({ role: "assistant", text: "", clientMessageId: null, live: true, atMs: null }, at);
  }

  message(key: string): ShownMessage | null {
    return this.#state.messages.find((message) => message.key === key) ?? null;
  }

  edit(key: string, edit: (message: ShownMessage) => ShownMessage): void {
    const messages = this.#state.messages.map((message) => (message.key === key ? edit(message) : message));
    this.change({ messages });
  }

  /** The history has the message with this key. */
  hasArrived(key: string): boolean {
    return (this.message(key)?.id ?? null) !== null;
  }

  /** Removes messages that the history does not have. Those that it has stay: the feed sends them only once. */
  remove(...keys: string[]): void {
    const { messages } = this.#state;
    this.change({ messages: messages.filter(({ id, key }) => id !== null || !keys.includes(key)) });
  }

  /** The reply has ended; an empty one is removed. What failed beside it stays said. */
  settle(key: string): void {
    const { notice } = this.#state;
    const reply = this.message(key);
    if (reply?.text === "" && reply.steps.length === 0) this.remove(key);
    else this.edit(key, (ended) => ({ ...ended, live: false, atMs: ended.atMs ?? Date.now() }));
    const isOfReply = notice?.alert !== true || notice.retry === true;
    this.change({ notice: isOfReply ? null : notice, confirmation: null });
  }

  fail(key: string, problem: Problem): void {
    this.edit(key, (message) => ({
      ...message,
      problem,
      live: false,
      atMs: message.atMs ?? Date.now(),
      steps: message.steps.map((step) => (step.phase === "running" ? { ...step, phase: "failed" } : step)),
    }));
    this.change({ notice: null, confirmation: null });
  }

  /** Only the newest problem has a Retry button, and with `keepsUnsent` the unsent messages too. */
  removeRetries(keepsUnsent: boolean): void {
    const keeps = ({ retry }: Problem) => keepsUnsent && retry === "resend";
    this.change({
      notice: null,
      messages: this.#state.messages.map((message) =>
        message.problem === null || keeps(message.problem)
          ? message
          : { ...message, problem: { ...message.problem, retry: null } },
      ),
    });
  }

  countUnread(): void {
    this.change({ unread: this.#state.unread + 1 });
  }

  clear(): void {
    const { phase, imageRoom } = this.#state;
    this.change({ ...EMPTY_VIEW, imageRoom, phase });
  }

  #add(
    shown: Omit<ShownMessage, "key" | "id" | "steps" | "isCutOff" | "problem">,
    at = this.#state.messages.length,
  ): ShownMessage {
    this.#keys += 1;
    const message = { ...shown, key: `l${this.#keys}`, id: null, steps: [], isCutOff: false, problem: null };
    this.change({ messages: this.#state.messages.toSpliced(at, 0, message) });
    return message;
  }
}

interface SentMessage {
  text: string;
  clientMessageId: string;
  images?: readonly MessageImage[] | undefined;
  files?: readonly MessageFile[] | undefined;
}

/** Of a tab in which nothing is under way. */
export function restingPhase(): ChatPhase {
  return navigator.onLine ? "idle" : "offline";
}
