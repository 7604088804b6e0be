import { isActive, tabMachine } from "../../../../machines/tab.ts";
import type { TabEffect } from "../../../../machines/tab.ts";
import type { RepliedIn, TabContext, TabEvent, Told } from "../../../../machines/tab-events.ts";
import { beginningOf, transition } from "../../chart/transition.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import { restingPhase } from "../../view/view-model.ts";
import type { ChatPhase } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";
import type { Transcript } from "../messages/transcript.ts";
import type { ActiveRun } from "./active-run.ts";
import type { SavedRun } from "./saved-run.ts";
import { tabEffects } from "./tab-effects.ts";
import type { Moved, RunHooks } from "./tab-effects.ts";

/** Runs the tab's chart (machines/tab.ts): tells it what happens, and performs its effects after each of its moves. */
export class TabRun {
  readonly #dependencies: ConversationDependencies;
  readonly #transcript: Transcript;
  readonly #effects: Record<TabEffect, (moved: Moved) => void>;
  readonly #allowed = new Set<string>();
  #state = beginningOf<TabContext>(tabMachine);
  /** null while the chart rests. */
  #active: ActiveRun | null = null;

  constructor(dependencies: ConversationDependencies, transcript: Transcript, hooks: RunHooks) {
    this.#dependencies = dependencies;
    this.#transcript = transcript;
    this.#effects = tabEffects(dependencies, transcript, hooks);
  }

  /** A message of this tab began the active run. */
  get isOwn(): boolean {
    const { path, context } = this.#state;
    return isActive(path) && path !== "active.resuming" && context.own !== null;
  }

  /** This run is followed, or was. */
  knows(runId: string): boolean {
    return this.#state.context.named?.runId === runId;
  }

  /** This run was followed to its end. */
  hasSeenEndOf(runId: string): boolean {
    return this.knows(runId) && this.#state.context.named?.hasEnded === true;
  }

  /** Tools that the visitor has allowed will ask again. */
  forgetAllowed(): void {
    this.#allowed.clear();
  }

  /**
   * Shows a message, sends it, and follows its run. Resolves when the run has ended, well or badly; to false if another
   * tab sends the same message. Rejects while another run is active. `isRepeat`: the service may have stored it.
   */
  async send(message: OutgoingMessage, isRepeat: boolean): Promise<boolean> {
    if (isActive(this.#state.path)) throw new Error("Cannot send: a reply is under way");
    const { threadId } = this.#dependencies.visitor;
    return (await this.#begin({ type: "user.said", message, isRepeat, threadId })) === true;
  }

  /**
   * Continues the saved run: asks for it by its id, or sends its message again if it has no id yet. Resolves as `send`
   * does; to null if it is of another thread, or too old.
   */
  async resume(own: SavedRun): Promise<boolean | null> {
    const { threadId } = this.#dependencies.visitor;
    const { atMs, message } = own;
    return await this.#begin({
      type: "run.found",
      own,
      message,
      isRepeat: true,
      threadId,
      ageMs: Date.now() - atMs,
    });
  }

  /** Follows a run that this tab did not begin, without running its tools. null: the thread's active or last run. */
  async watch(thread: ThreadAccess, runId: string | null, after: RepliedIn): Promise<void> {
    await this.#begin({ type: "run.seen", runId, after }, thread);
  }

  /** Stops the active run. The reply so far stays. */
  async stop(): Promise<void> {
    const run = this.#active;
    this.tell({ type: "user.stopped" });
    await run?.stopped;
  }

  /** The chart decides what the event means; then its effects are performed. */
  tell(event: TabEvent): void {
    const run = this.#active ?? this.#newRun(null);
    const { effects, ...state } = transition<TabContext, TabEffect>(tabMachine, this.#state, event);
    this.#state = state;
    this.#dependencies.view.setPhase(phaseOf(state));
    // A cast: an effect reads what the events of its moves tell, as the chart does.
    const moved = { context: state.context, event: event as Told, run };
    for (const effect of effects) this.#effects[effect](moved);
  }

  async #begin(event: TabEvent, thread: ThreadAccess | null = null): Promise<boolean | null> {
    if (isActive(this.#state.path)) return null;
    const run = this.#newRun(thread);
    this.#active = run;
    this.tell(event);
    if (isActive(this.#state.path)) return await run.over;
    if (this.#active === run) this.#active = null;
    return null;
  }

  #newRun(thread: ThreadAccess | null): ActiveRun {
    const controller = new AbortController();
    let end = (_isOurs: boolean) => {};
    const over = new Promise<boolean>((resolve) => (end = resolve));
    const run: ActiveRun = {
      ...this.#dependencies,
      transcript: this.#transcript,
      controller,
      signal: controller.signal,
      allowed: this.#allowed,
      thread,
      response: null,
      sentKey: "",
      replyKey: "",
      mark: null,
      text: "",
      over,
      release: (isOurs) => {
        // A page may have begun another run when it heard of the state.
        if (this.#active === run) this.#active = null;
        end(isOurs);
      },
      happened: (event) => {
        if (this.#active === run) this.tell(event);
      },
    };
    return run;
  }
}

function phaseOf({ path, context }: { path: string; context: TabContext }): ChatPhase {
  if (isActive(path)) return context.phase;
  if (path === "resting.idle") return restingPhase();
  return path === "resting.failed" ? "error" : "blocked";
}
