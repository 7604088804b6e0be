import type { ToolCallLine } from "../../../machines/line.ts";
import type { Board } from "../view/board.ts";
import { followRun } from "./follow-run.ts";
import type { Opening, ReplyView, RunEnd } from "./follow-run.ts";
import { openedPage, pageSettled } from "../tools/opened-page.ts";
import { currentPage } from "../service/current-page.ts";
import { isAllowed } from "./confirm-call.ts";
import type { PageHost } from "./page-host.ts";
import { performCall } from "../tools/perform-call.ts";
import type { RunRecord } from "./run-record.ts";
import { isEmpty } from "../tools/tool-result.ts";
import type { ResultBody } from "../tools/tool-result.ts";
import type { Item } from "../view/state.ts";
import { withStep } from "../view/state.ts";
import type { Shelf } from "../service/storage.ts";
import type { Service } from "../service/transport.ts";
import type { Place } from "../service/visitor.ts";

export interface CarriedRun {
  service: Service;
  at: Place;
  host: PageHost;
  board: Board;
  tab: Shelf;
  /** As it is kept; null: this tab did not start the run, it listens and runs no tools. */
  record: RunRecord | null;
  opening: Opening;
  /** Key of the item that shows the reply. */
  item: string;
  signal: AbortSignal;
  /** Tools that the visitor has allowed for the conversation. */
  allowed: Set<string>;
  /** Before a tool's result leaves a page that the tool may have changed. */
  postCatalog(): Promise<void>;
}

/**
 * Carries a run on in this tab until it ends. The record is written before each step that could take the page away, so
 * that the next page finds where the run stands.
 */
export async function carryRun(run: CarriedRun): Promise<RunEnd> {
  const { service, at, signal, board, host, tab } = run;
  try {
    return await followRun(
      {
        service,
        at,
        signal,
        reply: replyView(run),
        onLine: (line) => host.emit("line", { line }),
        pause: (seconds, reason) => pause(board, host, seconds, reason, signal),
        perform: run.record === null ? null : performer(run, run.record),
      },
      run.opening,
    );
  } finally {
    if (run.record !== null) tab.write("run", null);
  }
}

function performer(run: CarriedRun, kept: RunRecord): (call: ToolCallLine) => Promise<ResultBody> {
  const { board, host, tab, signal } = run;
  let record = kept;
  const keep = (change: Partial<RunRecord>) => {
    record = { ...record, ...change, atMs: Date.now() };
    tab.write("run", record);
  };
  return async (call) => {
    const known = record.call?.callId === call.callId ? record : null;
    // Answered on the page before, or here over a line that broke: the same answer again, never the tool.
    if (known?.phase === "answered" && known.body !== undefined) {
      await pageSettled();
      await run.postCatalog();
      return known.body;
    }
    if (known?.phase === "executing") {
      await pageSettled();
      await run.postCatalog();
      const body = openedPage(call.callId, call.tool);
      keep({ phase: "answered", body });
      return body;
    }
    keep({ phase: "asking", call: { callId: call.callId, tool: call.tool } });
    board.phase("tool");
    const answer = { callId: call.callId, tool: call.tool };
    const result = await performCall(call, {
      tools: await host.tools(),
      timeoutMs: host.toolTimeoutMs(),
      signal,
      isAllowed: (tool) => isAllowed(run, tool, call),
      onStart: (tool) => {
        keep({ phase: "executing", from: currentPage() });
        if (!tool.waitsForForm) return;
        board.phase("waiting-user");
        board.tell(host.strings().formWaits, true);
      },
      onReturn: (result) => {
        // A text is kept at once: the page may have milliseconds left. Of an empty result the next page can say more.
        if (!isEmpty(result)) keep({ phase: "answered", body: { ...answer, ...result } });
        host.emit("tool-result", { tool: call.tool, ...result });
      },
    });
    const body = { ...answer, ...result };
    keep({ phase: "answered", body });
    board.change({ notice: null });
    return body;
  };
}

function replyView({ board, host, item: key }: CarriedRun): ReplyView {
  return {
    add(line) {
      board.phase("streaming");
      if (line.type === "delta") {
        board.edit(key, (item) => ({ ...item, text: item.text + line.text }));
        return;
      }
      const { type: _type, ...step } = line;
      board.edit(key, (item) => ({ ...item, steps: withStep(item.steps, step) }));
      board.change({ spoken: step.text });
      host.emit("step", step);
    },
    mark: () => board.item(key),
    rewind: (mark) => board.edit(key, (item) => ({ ...((mark as Item | null) ?? item), live: true })),
  };
}

/** Counts the seconds down where the visitor sees them; a cut line waits for the browser to be online, too. */
export async function pause(
  board: Board,
  host: PageHost,
  seconds: number,
  reason: "cut" | "busy",
  signal?: AbortSignal,
): Promise<void> {
  const strings = host.strings();
  for (let left = seconds; left > 0 && signal?.aborted !== true; left -= 1) {
    board.tell(
      reason === "busy" ? strings.slowDown.replace("{n}", String(left)) : strings.reconnecting,
      false,
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  if (reason === "cut" && !navigator.onLine && signal?.aborted !== true) {
    await new Promise<unknown>((resolve) => {
      window.addEventListener("online", resolve, { once: true });
      signal?.addEventListener("abort", resolve, { once: true });
    });
  }
  board.change({ notice: null });
}
