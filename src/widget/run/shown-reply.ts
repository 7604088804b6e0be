import type { ProgressLine } from "../../../machines/line.ts";
import type { Board } from "../view/board.ts";
import { withStep } from "../view/state.ts";
import type { Item } from "../view/state.ts";
import type { PageHost } from "./page-host.ts";

/** The reply of a run, as it is shown: it grows line by line, and can be set back to where it stood. */
export class ShownReply {
  readonly key: string;
  readonly #board: Board;
  readonly #host: PageHost;

  constructor({ board, host }: { board: Board; host: PageHost }, key: string) {
    this.#board = board;
    this.#host = host;
    this.key = key;
  }

  add(line: ProgressLine): void {
    this.#board.phase("streaming");
    if (line.type === "delta") {
      this.#board.edit(this.key, (item) => ({ ...item, text: item.text + line.text }));
      return;
    }
    const { type: _type, ...step } = line;
    this.#board.edit(this.key, (item) => ({ ...item, steps: withStep(item.steps, step) }));
    this.#board.change({ spoken: step.text });
    this.#host.emit("step", step);
  }

  /** Where the reply stands; null where it is no longer shown. */
  mark(): Item | null {
    return this.#board.item(this.key);
  }

  /** What follows is shown afresh from there. */
  rewind(mark: Item | null): void {
    this.#board.edit(this.key, (item) => ({ ...(mark ?? item), live: true }));
  }
}
