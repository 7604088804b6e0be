import type { ShownMessage } from "../../view/view-state.ts";
import type { RunAtWork } from "./run-work.ts";

/** The run that is active in this tab: what the chart does not know of it. */
export interface ActiveRun extends RunAtWork {
  controller: AbortController;
  /** Keys of its message and its reply as they are shown. */
  sentKey: string;
  replyKey: string;
  /** The reply when the last tool was called, and what was seen of it at its end. */
  mark: ShownMessage | null;
  text: string;
  /** Resolves when the run is over for this tab; to false if another tab has it. */
  over: Promise<boolean>;
  release(this: void, isOurs: boolean): void;
  /** Resolves when the service has been asked to cancel it. */
  stopped?: Promise<void>;
}
