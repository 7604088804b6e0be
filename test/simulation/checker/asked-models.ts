import type { Turn } from "../../../src/agent.ts";
import { chosenOf } from "../../../src/domain/threads/branches.ts";
import type { Exchange } from "../clients/exchange.ts";
import { toolText } from "../instance/agent.ts";
import type { RunTruth } from "./thread-truth.ts";
import type { Watch, Watcher } from "./watcher.ts";

const UNKNOWN = "The outcome of this call is unknown";
const REFUSED = "There is no such tool";
const NOT_MADE = "This call was not made: ";

/**
 * newest-catalog: a model is offered a catalog that is no older than the one that was acknowledged before its run's
 * message was sent; newest-catalog-after-waiting: or, where the message waited, before its run began.
 * a-model-sees-the-history: it is told the messages before its run's, those of one branch alone, and its run's message.
 * results-are-what-was-answered: it is told results that a tool or a page gave for that call.
 */
export function watchAskedModels({ ledger, report, world }: Watch): Watcher {
  const catalogs = new Map<string, Exchange[]>();
  const sentAtMs = new Map<string, number>();
  const answers = new Map<string, Set<string>>();

  function check(by: string, turn: Turn): void {
    const uid = ledger.threadOf(turn.run.runId);
    const run = uid === undefined ? undefined : ledger.truth(uid).runs.get(turn.run.runId);
    if (uid === undefined || !run) return;
    // Whoever holds it may have read it before that.
    const node = world.cluster.ofThread(uid);
    const sinceMs = sentAtMs.get(`${uid} ${run.text}`) ?? 0;
    if (ledger.isDisturbed(uid, sinceMs) || node.wasAstray(by, sinceMs)) return;
    checkCatalog(uid, run, turn);
    checkHistory(uid, run, turn);
    checkResults(uid, turn);
  }

  function checkCatalog(uid: string, run: RunTruth, { run: { api }, catalog }: Turn): void {
    if (api !== "widget") return;
    const untilMs = run.waited ? run.begunAtMs : (sentAtMs.get(`${uid} ${run.text}`) ?? 0);
    const known = ledger.truth(uid).catalogs;
    let newest = -1;
    for (const { about, heardAtMs } of catalogs.get(uid) ?? []) {
      if (about.type !== "catalog" || (heardAtMs ?? Infinity) >= untilMs) continue;
      const place = known.findLastIndex(
        (one) => one.catalog === about.catalog && one.atMs <= (heardAtMs ?? Infinity),
      );
      newest = Math.max(newest, place);
    }
    const allowed = known.slice(Math.max(newest, 0)).map((one) => one.catalog);
    if (newest === -1) allowed.push("[]");
    const offered = JSON.stringify(catalog);
    if (allowed.includes(offered)) return;
    const invariant = run.waited ? "newest-catalog-after-waiting" : "newest-catalog";
    report(invariant, uid, `“${run.text}” is offered ${offered}, and not one of ${allowed.join(" ")}`);
  }

  function checkHistory(uid: string, run: RunTruth, { before, text }: Turn): void {
    const { messages: all, hidden } = ledger.truth(uid);
    const messages = chosenOf(all, hidden);
    const asked = messages.findIndex(({ id }) => id === run.asked);
    const place = run.instruction === null ? asked : messages.length;
    const isSame =
      text === run.text &&
      before.length === place &&
      before.every(({ content, role }, i) => messages[i]?.content === content && messages[i]?.role === role);
    if (isSame) return;
    const told = before.map(({ id, content }) => `${id}: ${content}`);
    report("a-model-sees-the-history", uid, `“${run.text}” is asked after ${JSON.stringify(told)}`);
  }

  function checkResults(uid: string, { run }: Turn): void {
    for (const item of run.turns) {
      if (item.type !== "result") continue;
      const { callId, text } = item;
      const isKnown =
        text.startsWith(UNKNOWN) ||
        text === REFUSED ||
        text === toolText(callId) ||
        text.startsWith(NOT_MADE);
      if (isKnown || answers.get(callId)?.has(text)) continue;
      report("results-are-what-was-answered", uid, `${callId} has the result “${text}”`);
    }
  }

  return {
    see(happening) {
      if (happening.type === "model asked") return check(happening.by, happening.turn);
      if (happening.type !== "asked") return;
      const { exchange } = happening;
      const { about } = exchange;
      if (about.type === "catalog") {
        catalogs.set(about.uid, [...(catalogs.get(about.uid) ?? []), exchange]);
      }
      if (about.type === "say" && !sentAtMs.has(`${about.uid} ${about.text}`)) {
        sentAtMs.set(`${about.uid} ${about.text}`, exchange.sentAtMs);
      }
      if (about.type === "answer" && !about.isWrong) {
        answers.set(about.callId, (answers.get(about.callId) ?? new Set()).add(about.text));
      }
    },
  };
}
