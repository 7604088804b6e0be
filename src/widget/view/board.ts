import { isRunning, NOTHING_SHOWN } from "./state.ts";
import type { Item, Phase, Problem, Shown } from "./state.ts";

/** What is shown, and the few ways in which it changes. */
export class Board {
  readonly #onChange: (now: Shown, before: Shown) => void;
  #shown: Shown;
  #keys = 0;

  constructor(draft: string, onChange: (now: Shown, before: Shown) => void) {
    this.#onChange = onChange;
    this.#shown = { ...NOTHING_SHOWN, draft, phase: restingPhase() };
  }

  get shown(): Shown {
    return this.#shown;
  }

  get isRunning(): boolean {
    return isRunning(this.#shown.phase);
  }

  change(change: Partial<Shown>): void {
    const before = this.#shown;
    this.#shown = { ...before, ...change };
    this.#onChange(this.#shown, before);
  }

  phase(phase: Phase): void {
    if (this.#shown.phase !== phase) this.change({ phase });
  }

  /** Nothing is under way. */
  rest(): void {
    this.phase(restingPhase());
  }

  tell(text: string, alert: boolean): void {
    this.change({ notice: { text, alert } });
  }

  /** Adds an item; an assistant's is live. */
  add(role: Item["role"], text: string): Item {
    this.#keys += 1;
    const item = { key: `l${this.#keys}`, role, text, steps: [], live: role === "assistant", problem: null };
    this.change({ items: [...this.#shown.items, item] });
    return item;
  }

  item(key: string): Item | null {
    return this.#shown.items.find((item) => item.key === key) ?? null;
  }

  edit(key: string, edit: (item: Item) => Item): void {
    this.change({ items: this.#shown.items.map((item) => (item.key === key ? edit(item) : item)) });
  }

  drop(...keys: string[]): void {
    this.change({ items: this.#shown.items.filter((item) => !keys.includes(item.key)) });
  }

  /** A reply that ended; one that said nothing leaves no trace. */
  settle(key: string): void {
    const item = this.item(key);
    if (item?.text === "" && item.steps.length === 0) this.drop(key);
    else this.edit(key, (ended) => ({ ...ended, live: false }));
    this.change({ notice: null, question: null });
  }

  fail(key: string, problem: Problem): void {
    this.edit(key, (item) => ({
      ...item,
      problem,
      live: false,
      steps: item.steps.map((step) => (step.phase === "running" ? { ...step, phase: "failed" } : step)),
    }));
    this.change({ notice: null, question: null });
    if (problem.retry === null) this.rest();
    else this.phase("error");
  }

  /** Troubles of before are no longer worth a button. */
  retireProblems(): void {
    this.change({
      notice: null,
      items: this.#shown.items.map((item) =>
        item.problem === null ? item : { ...item, problem: { ...item.problem, retry: null } },
      ),
    });
  }

  countUnread(): void {
    this.change({ unread: this.#shown.unread + 1 });
  }

  clear(): void {
    this.change({ ...NOTHING_SHOWN, phase: this.isRunning ? this.#shown.phase : restingPhase() });
  }
}

function restingPhase(): Phase {
  return navigator.onLine ? "idle" : "offline";
}
