import type { PropertyTool } from "./tool.ts";

/** A page that changes adds and removes several tools at once; one change is reported for all of them. */
const QUIET_MS = 300;

/** The tools that the page gives to the element: assigned all at once, or registered one by one. */
export class PropertyTools {
  readonly #onChange: () => void;
  #assigned: PropertyTool[] = [];
  readonly #registered = new Map<string, PropertyTool>();
  #timer = 0;

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
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(this.#onChange, QUIET_MS);
  }
}
