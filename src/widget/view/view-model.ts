import { EMPTY_VIEW, isRunning } from "./view-state.ts";
import type { ChatPhase, Problem, ShownMessage, ViewState } from "./view-state.ts";

/** Holds the state that the view shows; every change of it goes through here. */
export class ViewModel {
  readonly #onChange: (now: ViewState, before: ViewState) => void;
  #state: ViewState;
  #keys = 0;

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

  change(change: Partial<ViewState>): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    this.#onChange(this.#state, before);
  }

  setPhase(phase: ChatPhase): void {
    if (this.#state.phase !== phase) this.change({ phase });
  }

  /** No run is active any more. */
  rest(): void {
    this.setPhase(restingPhase());
  }

  notify(text: string, alert: boolean): void {
    this.change({ notice: { text, alert } });
  }

  /** Adds a message at the end; a reply is live. */
  add(role: ShownMessage["role"], text: string): ShownMessage {
    this.#keys += 1;
    const key = `l${this.#keys}`;
    const message = { key, role, text, steps: [], live: role === "assistant", problem: null };
    this.change({ messages: [...this.#state.messages, message] });
    return message;
  }

  message(key: string): ShownMessage | null {
    return this.#state.messages.find((message) => message.key === key) ?? null;
  }

  edit(key: string, edit: (message: ShownMessage) => ShownMessage): void {
    const messages = this.#state.messages.map((message) => (message.key === key ? edit(message) : message));
    this.change({ messages });
  }

  remove(...keys: string[]): void {
    this.change({ messages: this.#state.messages.filter((message) => !keys.includes(message.key)) });
  }

  /** The reply has ended; an empty one is removed. */
  settle(key: string): void {
    const reply = this.message(key);
    if (reply?.text === "" && reply.steps.length === 0) this.remove(key);
    else this.edit(key, (ended) => ({ ...ended, live: false }));
    this.change({ notice: null, confirmation: null });
  }

  fail(key: string, problem: Problem): void {
    this.edit(key, (message) => ({
      ...message,
      problem,
      live: false,
      steps: message.steps.map((step) => (step.phase === "running" ? { ...step, phase: "failed" } : step)),
    }));
    this.change({ notice: null, confirmation: null });
    if (problem.retry === null) this.rest();
    else this.setPhase("error");
  }

  /** Only the newest problem has a Retry button. */
  removeRetries(): void {
    this.change({
      notice: null,
      messages: this.#state.messages.map((message) =>
        message.problem === null ? message : { ...message, problem: { ...message.problem, retry: null } },
      ),
    });
  }

  countUnread(): void {
    this.change({ unread: this.#state.unread + 1 });
  }

  clear(): void {
    this.change({ ...EMPTY_VIEW, phase: this.isRunning ? this.#state.phase : restingPhase() });
  }
}

function restingPhase(): ChatPhase {
  return navigator.onLine ? "idle" : "offline";
}
