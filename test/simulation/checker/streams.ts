import { isDeepStrictEqual } from "node:util";
import { isTerminal } from "../../../machines/line.ts";
import type { ErrorLine, Line } from "../../../machines/line.ts";
import { foldSteps, textOf } from "../../../src/domain/threads/fold-steps.ts";
import { endOf } from "../clients/client.ts";
import { isStream } from "../clients/exchange.ts";
import type { Exchange } from "../clients/exchange.ts";
import { RUN_MAX_REPLY_CHARS } from "../instance/instance.ts";
import type { Thoughts } from "./thoughts.ts";
import type { RunTruth, Told } from "./thread-truth.ts";
import type { Watch, Watcher } from "./watcher.ts";

const LOST = "The service has lost this message";

/**
 * one-terminal-line: a stream ends with one, and with nothing else but the end of its connection.
 * a-stream-is-of-one-run: whatever cut it, its text is of the run that it names, in order, nothing twice.
 * a-stream-is-what-is-stored: where the run's own last line came, the text and the steps before it are the stored ones.
 * a-reply-is-what-was-written: what a run leaves in the history is what models wrote for it, and no more;
 * a-reply-has-no-error-in-it: nor has a reply that failed its error at its end.
 * what-is-called-lost-is-lost: a stream that says so speaks of a message that is in no store.
 */
export function watchStreams({ ledger, report, world }: Watch, thoughts: Thoughts): Watcher {
  function checkStream(exchange: Exchange): void {
    const { about, lines, status } = exchange;
    if (status !== 200 || !("uid" in about)) return;
    const { uid } = about;
    const who = `${exchange.client}'s stream ${exchange.nth} of ${exchange.instance}`;
    const end = lines.findIndex(isTerminal);
    if (end !== -1 && end !== lines.length - 1) {
      return report("one-terminal-line", uid, `${who} goes on after its terminal line`);
    }
    if (end === -1 && !exchange.isCut) return report("one-terminal-line", uid, `${who} ends without one`);
    if (ledger.isDisturbed(uid, exchange.sentAtMs)) return;

    if (about.type === "follow" && about.runId !== null && exchange.runId !== about.runId) {
      const text = `${who} is of ${exchange.runId}, and ${about.runId} was asked for`;
      return report("a-stream-is-of-one-run", uid, text);
    }

    const told: Told = { text: textOf(progressOf(lines)), steps: foldSteps(progressOf(lines)) };
    const ended = endOf(exchange);
    if (ended.type === "told" && ended.line.type === "error" && ended.line.message === LOST) {
      return checkLost(exchange);
    }
    if (ended.type === "told" && isErrorTold(told, ended.line)) {
      return report("a-reply-has-no-error-in-it", uid, `${who} ends its text with “${ended.line.message}”`);
    }
    if (ended.type === "told" && !isStored(exchange, told, ended.line)) {
      const text = `${who} told ${JSON.stringify(told)} and ${JSON.stringify(ended.line)}, which is not stored`;
      return report("a-stream-is-what-is-stored", uid, text);
    }
    const chars = charsBefore(exchange) + told.text.length;
    const fault = thoughts.faultOf(told.text, exchange.runId, chars === RUN_MAX_REPLY_CHARS);
    if (ended.type === "unfinished" && fault) report("a-stream-is-of-one-run", uid, `${who}: ${fault}`);
  }

  /** How much the run had said before this stream; a run that nobody saved any more may have come to its longest here. */
  function charsBefore({ about }: Exchange): number {
    if (about.type !== "answer") return 0;
    const { callId } = about;
    const before = ledger
      .endings(about.uid)
      .find(({ terminal }) => terminal.type === "tool_call" && terminal.callId === callId);
    return before?.whole.text.length ?? 0;
  }

  /** Who looks at a store that is behind cannot know better. */
  function checkLost({ about, client, nth, instance, sentAtMs }: Exchange): void {
    if (about.type !== "say" || world.cluster.ofThread(about.uid).wasAstray(instance, sentAtMs)) return;
    if (ledger.runsOfText(about.uid, about.text).size === 0) return;
    report("what-is-called-lost-is-lost", about.uid, `${client}'s stream ${nth}: “${about.text}” is there`);
  }

  function isErrorTold({ text }: Told, line: Line): line is ErrorLine {
    return line.type === "error" && text !== line.message && text.endsWith(line.message);
  }

  function isStored(exchange: Exchange, told: Told, line: Line): boolean {
    const { about } = exchange;
    if (!("uid" in about)) return false;
    const runIds = about.type === "say" ? ledger.runsOfText(about.uid, about.text) : null;
    return ledger.endings(about.uid).some((ending) => {
      if (ending.runId !== exchange.runId || (runIds && !runIds.has(ending.runId))) return false;
      const isSuperseded = line.type === "error" && line.code === "superseded";
      const isEnd = isSuperseded ? ending.outcome === "superseded" : isDeepStrictEqual(ending.terminal, line);
      if (!isEnd) return false;
      const stored = about.type === "answer" ? ending.sinceResult.get(about.callId) : ending.whole;
      return stored !== undefined && isTold(stored, told);
    });
  }

  function isTold(stored: Told, told: Told): boolean {
    return stored.text === told.text && isDeepStrictEqual(stored.steps, told.steps);
  }

  function checkReplies(uid: string, error: string | null): void {
    for (const run of ledger.truth(uid).runs.values()) {
      const isNew = run.endedAtMs === world.time.nowMs && !ledger.isDisturbed(uid, run.begunAtMs);
      if (isNew && run.reply !== null) checkReply(uid, { ...run, reply: run.reply }, error);
    }
  }

  function checkReply(uid: string, run: RunTruth & { reply: string }, error: string | null): void {
    const { runId, outcome, reply, isLeft } = run;
    if (outcome === "failed" && reply === error) return;
    if (outcome === "failed" && error !== null && reply.endsWith(error)) {
      return report("a-reply-has-no-error-in-it", uid, `the reply of ${runId} ends with “${error}”`);
    }
    const last = thoughts.lastOf(reply);
    const isWhole = last === undefined || (last.isWhole && reply.endsWith(last.chunks.at(-1) ?? ""));
    const fault =
      thoughts.faultOf(reply, runId) ??
      (outcome === "done" && !isLeft && !isWhole ? "it is done, and not whole" : null);
    if (fault) report("a-reply-is-what-was-written", uid, `the reply of ${runId}: ${fault}`);
  }

  return {
    see(happening) {
      if (happening.type === "model asked") thoughts.add(happening.thought);
      if (happening.type === "closed" && isStream(happening.exchange)) checkStream(happening.exchange);
      if (happening.type === "committed") {
        const terminal = happening.commit.run?.terminal;
        checkReplies(happening.uid, terminal?.type === "error" ? terminal.message : null);
      }
    },
  };
}

function progressOf(lines: readonly Line[]) {
  return lines.filter((line) => !isTerminal(line));
}
