import { delay } from "../service/delay.ts";
import type { PropertyTool } from "./tool.ts";

/** A page that changes adds and removes several tools at once; one change is reported for all of them. */
const QUIET_MS = 300;

/** A message waits no longer than this for tools that keep changing. */
const MAX_WAIT_MS = 1_500;

/** The tools that the page gives to the element: assigned all at once, or registered one by one. */
export class PropertyTools {
  readonly #onChange: () => void;
  #assigned: PropertyTool[] = [];
  readonly #registered = new Map<string, PropertyTool>();
  #timer = 0;
  #quiet = Promise.resolve();
  #report = () => {};

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get assigned(): PropertyTool[] {
    return this.#assigned;
  }

  get all(): PropertyTool[] {
    return [...this.#assigned, ...this.#registered.values()];
  }

  assign(tools: PropertyTool[]): void {
    this.#assigned = [...tools];
    this.changed();
  }

  /** The signal removes the tool again. */
  register(tool: PropertyTool, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) return;
    this.#registered.set(tool.name, tool);
    signal?.addEventListener("abort", () => {
      if (this.#registered.get(tool.name) === tool) this.#registered.delete(tool.name);
      this.changed();
    });
    this.changed();
  }

  changed(): void {
    if (this.#timer === 0) this.#quiet = new Promise((resolve) => (this.#report = resolve));
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      this.#report();
      this.#onChange();
    }, QUIET_MS);
  }

  /** Resolves when the tools have not changed for a moment. */
  async settled(): Promise<void> {
    if (this.#timer !== 0) await Promise.race([this.#quiet, delay(MAX_WAIT_MS)]);
  }
}
