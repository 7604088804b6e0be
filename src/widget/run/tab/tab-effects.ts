import type { TabEffect } from "../../../../machines/tab.ts";
import type { OwnRun, TabContext, TabEvent, Told } from "../../../../machines/tab-events.ts";
import { createBackoff } from "../../../client/core/backoff.ts";
import { delay } from "../../service/delay.ts";
import { tryWithTabLock } from "../../service/tab-lock.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";
import { noteSpoken } from "../messages/spoken-lately.ts";
import type { Transcript } from "../messages/transcript.ts";
import { dropAllUnsent, dropUnsent, keepUnsent } from "../messages/unsent-messages.ts";
import { writeDraft } from "../write-draft.ts";
import type { ActiveRun } from "./active-run.ts";
import { faultOf } from "./fault-of.ts";
import { pauseBusy, pauseCut } from "./pause.ts";
import { cancelRun, post, readStream, withTools } from "./run-work.ts";
import { dropSavedRun, lockNameOf } from "./saved-run.ts";
import { showEnd, showLost, showStopped } from "./show-end.ts";
import { showUndelivered } from "./show-failure.ts";
import { ShownReply } from "./shown-reply.ts";

/** Waits between attempts; after the last one the visitor is asked. A restart of the service takes less. */
const WAITS_MS = [1_000, 3_000, 9_000, 20_000];

/** If the service asks for a longer wait than this, the visitor has to press Retry. */
const MAX_RETRY_AFTER_SECONDS = 30;

/** How long a stream may take to end by itself after a cancel. */
const LAST_LINE_MS = 1_000;

/** What a run needs of the conversation around it. */
export interface RunHooks {
  /** Resolves when a message may be sent. */
  start(this: void): Promise<void>;
  /** A saved run begins to be continued: its thread is loaded with it. */
  resumes(this: void): void;
  /** The thread's history is shown. */
  loaded(this: void): void;
  failed(this: void, error: unknown): void;
}

/** What an effect is performed with: the event, the context after the move, and the run that was active before it. */
export interface Moved {
  context: TabContext;
  event: Told;
  run: ActiveRun;
}

/** The effects of the tab's chart (machines/tab.ts), each as this page performs it. */
export function tabEffects(
  dependencies: ConversationDependencies,
  transcript: Transcript,
  hooks: RunHooks,
): Record<TabEffect, (moved: Moved) => void> {
  const { view, visitor, host, tabStorage, sharedStorage } = dependencies;
  const replyOf = (run: ActiveRun) => new ShownReply(run, run.replyKey);
  // A cast: the chart carries the message unread, and it is of this tab.
  const messageOf = (own: OwnRun | null) => own?.message as OutgoingMessage;
  const pause = (run: ActiveRun, over: Promise<boolean>) =>
    work(
      run,
      over.then((isBack) => ({ type: "pause.over", isBack })),
    );
  return {
    prepare: ({ context: { own }, run }) => {
      const loading = async () => {
        await hooks.start();
        if (run.signal.aborted) return null;
        return await alone(run, messageOf(own), async () => run.happened({ type: "lock.won" }));
      };
      work(run, loading(), "message.failed");
    },
    takeOver: ({ context: { own }, run }) => {
      hooks.resumes();
      const loading = async () => {
        host.emit("resumed", { tool: own?.call?.tool ?? null, from: own?.from ?? null });
        if (own?.call !== undefined) view.notify(host.strings().resumed, false);
        run.thread = await visitor.thread();
        await transcript.reload(run.thread);
        hooks.loaded();
        // The service may not know the visitor or the thread any more.
        const isKnown = visitor.threadId === run.thread.threadId;
        run.happened({ type: isKnown ? "thread.loaded" : "thread.lost" });
      };
      work(run, alone(run, messageOf(own), loading), "thread.failed");
    },
    post: ({ context: { own }, run }) => work(run, post(run, messageOf(own)), "message.failed"),
    open: ({ context, run }) => work(run, readStream(run, context), "stream.cut"),
    waitOut: ({ context: { failures }, event: { fault }, run }) => {
      const waits = createBackoff(WAITS_MS.slice(failures - 1));
      const ms = waits.next(1_000 * Math.min(fault.waitSeconds, MAX_RETRY_AFTER_SECONDS)) ?? 0;
      pause(run, pauseCut(run, ms, run.signal));
    },
    countDown: ({ event: { fault }, run }) =>
      pause(
        run,
        pauseBusy(run, fault.waitSeconds, run.signal).then(() => false),
      ),
    callTool: ({ event: { call }, run }) =>
      work(
        run,
        withTools(run, call, (part) => part.callTool(run, call), "tool.answered"),
      ),
    settle: ({ event: { body }, run }) => {
      view.change({ notice: null });
      work(
        run,
        withTools(run, body, (part) => part.settle(run, body, false), "page.settled"),
      );
    },
    settleAgain: ({ event: { call }, run }) =>
      work(
        run,
        withTools(run, call, (part) => part.settle(run, call, true), "page.settled"),
      ),
    loadReply: ({ event: { end, mayRetry }, run }) => {
      const loading = async (): Promise<TabEvent> => {
        if (run.thread !== null) await transcript.reload(run.thread);
        run.replyKey = view.state.messages.at(-1)?.key ?? run.replyKey;
        return { type: "reply.loaded", end, mayRetry };
      };
      work(run, loading());
    },
    cancel: ({ context: { runId }, run }) => {
      run.stopped = cancelRun(run, runId);
    },
    cancelLate: ({ context: { runId }, run }) => {
      run.stopped = cancelRun(run, runId)
        .then(() => delay(LAST_LINE_MS))
        .then(() => run.happened({ type: "stop.due" }));
    },

    save: ({ context: { own } }) => {
      if (own !== null) tabStorage.write("run", { ...own, atMs: Date.now() });
    },
    dropSaved: ({ context: { own } }) => {
      if (own !== null) dropSavedRun(tabStorage, messageOf(own));
    },
    keepFound: ({ event: { own } }) => keepUnsent(sharedStorage, messageOf(own)),
    dropFound: () => tabStorage.write("run", null),
    keepUnsent: ({ context: { own } }) => keepUnsent(sharedStorage, messageOf(own)),
    dropUnsent: ({ context: { own } }) => dropUnsent(sharedStorage, messageOf(own)),

    showMessage: ({ context: { own }, event: { isRepeat }, run }) => {
      view.removeRetries(isRepeat);
      showSent(run, messageOf(own));
      if (isRepeat) return;
      // A new message gives up the earlier unsent ones.
      dropAllUnsent(sharedStorage);
      noteSpoken(sharedStorage);
      const { text } = messageOf(own);
      // What the visitor writes meanwhile stays: a Retry and the page send other texts.
      if (view.state.draft.trim() === text) writeDraft(dependencies, "");
      host.emit("message", { role: "user", text });
    },
    showReply: ({ context: { own, runId, after, named }, run }) => {
      if (own !== null) return showSent(run, messageOf(own));
      // This tab may have followed the run before.
      const last = view.state.messages.at(-1);
      const isBegun =
        after === "feed" && last?.role === "assistant" && last.id === null && named?.runId === runId;
      run.replyKey = (isBegun ? last : view.addReply()).key;
    },
    rewind: ({ context: { opening }, run }) => {
      const reply = replyOf(run);
      reply.rewind(opening === "result" ? run.mark : reply.beginning());
    },
    showLine: ({ event: { line }, run }) => replyOf(run).add(line),
    markReply: ({ run }) => {
      run.mark = replyOf(run).mark();
    },
    askForForm: () => view.notify(host.strings().formWaits, true),
    endReply: ({ run }) => {
      run.text = view.message(run.replyKey)?.text ?? "";
      view.settle(run.replyKey);
    },
    dropReply: ({ run }) => {
      view.settle(run.replyKey);
      view.remove(run.replyKey);
    },
    showEnd: ({ event: { end }, run }) => showEnd(run, end, run.replyKey, run.text),
    showLost: ({ event: { fault }, run }) => showLost(run, run.replyKey, fault.cause),
    showStopped: ({ run }) => showStopped(run, run.replyKey),
    showUndelivered: ({ context: { own }, event: { fault }, run }) =>
      showUndelivered(run, fault.cause, { ...run, message: messageOf(own) }),
    hideMessage: ({ run }) => view.remove(run.sentKey, run.replyKey),
    showForgotten: ({ context: { own } }) => {
      view.change({ notice: null });
      if (!visitor.isUnknown) return;
      keepUnsent(sharedStorage, messageOf(own));
      transcript.showUnsent();
    },
    showFailure: ({ event: { fault } }) => hooks.failed(fault.cause),
    tellTabs: ({ context: { own } }) => {
      if (own !== null) sharedStorage.write("turn", Date.now());
    },
    abort: ({ run }) => {
      run.controller.abort();
      view.state.confirmation?.decide("decline");
    },
    release: ({ event, run }) => {
      run.release(event.type !== "lock.lost");
    },
  };

  /** Does what a state waits for: its event, or else the one of its failure, comes when it is done. */
  function work(
    run: ActiveRun,
    under: Promise<TabEvent | null>,
    failed: "message.failed" | "stream.cut" | "thread.failed" | "work.failed" = "work.failed",
  ): void {
    void under
      .catch((error: unknown): TabEvent => ({ type: failed, fault: faultOf(view, error, run) }))
      .then((event) => event && run.happened(event));
  }

  function showSent(run: ActiveRun, message: OutgoingMessage): void {
    const { sent, reply } = view.addSent(message);
    run.sentKey = sent.key;
    run.replyKey = reply.key;
  }
}

/** Does the work with the message's lock held until the run is over. Resolves to an event if another tab has it. */
async function alone(
  run: ActiveRun,
  message: OutgoingMessage,
  work: () => Promise<void>,
): Promise<TabEvent | null> {
  const isOurs = await tryWithTabLock(lockNameOf(run.lockPrefix, message), async () => {
    await work();
    await run.over;
  });
  return isOurs ? null : { type: "lock.lost" };
}
