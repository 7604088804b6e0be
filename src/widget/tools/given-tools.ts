import type { PropertyTool } from "./tool.ts";

/** Tools come and go in bunches while a page changes. */
const QUIET_MS = 300;

/** The tools that the page gives to the element: set all at once, or registered one by one. */
export class GivenTools {
  readonly #onChange: () => void;
  #set: PropertyTool[] = [];
  readonly #registered = new Map<string, PropertyTool>();
  #timer = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get set(): PropertyTool[] {
    return this.#set;
  }

  get all(): PropertyTool[] {
    return [...this.#set, ...this.#registered.values()];
  }

  replace(tools: PropertyTool[]): void {
    this.#set = [...tools];
    this.changed();
  }

  /** The signal takes the tool away. */
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
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(this.#onChange, QUIET_MS);
  }
}
