import type { ProgressLine } from "../../../../machines/line.ts";
import { withStep } from "../../view/view-state.ts";
import type { ShownMessage } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { titled } from "../messages/titled-step.ts";

/** The reply in the view: it grows line by line, and can be set back to an earlier state. */
export class ShownReply {
  readonly #dependencies: ConversationDependencies;
  readonly #key: string;

  constructor(dependencies: ConversationDependencies, key: string) {
    this.#dependencies = dependencies;
    this.#key = key;
  }

  add(line: ProgressLine): void {
    const { view, host } = this.#dependencies;
    if (line.type === "delta") {
      this.#edit((reply) => ({ ...reply, text: reply.text + line.text }));
    }
    if (line.type !== "step") return;
    const { type: _type, ...step } = line;
    const shown = titled(step, host);
    this.#edit((reply) => ({ ...reply, steps: withStep(reply.steps, shown) }));
    if (step.approval && !host.isSeen()) view.countUnread();
    view.change({ announcement: shown.text });
    host.emit("step", step);
  }

  /** Its state before the first line; null if it is no longer shown. */
  beginning(): ShownMessage | null {
    const reply = this.mark();
    return reply === null ? null : { ...reply, text: "", steps: [] };
  }

  /** Its current state, for `rewind`; null if it is no longer shown. */
  mark(): ShownMessage | null {
    return this.#dependencies.view.message(this.#key);
  }

  rewind(mark: ShownMessage | null): void {
    this.#edit((reply) => ({ ...(mark ?? reply), live: true }));
  }

  /** A reply that the history has is complete, and not edited. */
  #edit(edit: (reply: ShownMessage) => ShownMessage): void {
    this.#dependencies.view.edit(this.#key, (reply) => (reply.id === null ? edit(reply) : reply));
  }
}
