import type { About, Exchange } from "../clients/exchange.ts";
import type { Happening } from "../happening.ts";
import { answererIn } from "./answerer-truth.ts";
import type { Watch, Watcher } from "./watcher.ts";

type Act = Extract<About, { type: "take" | "write" | "give back" }>;

/**
 * an-old-epoch-changes-nothing: what is stored of an operator names the epoch that the thread had, and was asked so.
 * an-act-is-saved: it is answered when it is saved. one-has-the-thread: of those who take at one epoch one is told so.
 * a-change-is-kept: what changes who answers is stored with the change, for the conversation to show.
 * a-person-is-not-lost: what was acknowledged of a person stays.
 * no-model-with-a-person: who has written last that a person answers, and has heard that it is so, asks no model. a-wait-ends: at rest nobody waits,
 * neither for a person nor for an answer of who has the thread.
 */
export function watchPeople({ ledger, report, world }: Watch): Watcher {
  /** What operators asked for, by thread. */
  const asked = new Map<string, Act[]>();
  /** What was ever written of it, be it lost since. */
  const done = new Set<string>();
  const taken = new Map<string, Exchange>();
  /** The last one that was ever written, by thread. */
  const epochs = new Map<string, number>();
  const heard: { uid: string; text: string }[] = [];
  /** The commits of whose answer their process has heard. */
  const heardOf = new Set<string>();

  const keyOf = (act: Act) =>
    `${act.uid} ${act.type} ${act.name} ${act.epoch} ${"text" in act ? act.text : ""}`;
  const isAsked = (uid: string, holds: (act: Act) => boolean) => (asked.get(uid) ?? []).some(holds);

  function checkCommitted({ uid, by, commit, where }: Extract<Happening, { type: "committed" }>): void {
    const { epoch, name, kind, takeId } = answererIn(commit, { by, atMs: world.time.nowMs });
    const before = epochs.get(uid) ?? 0;
    epochs.set(uid, Math.max(before, epoch));
    // Where a failover has taken it back, who has not heard of that goes on from there.
    const isKept = commit.answerer ? commit.answerer.epoch === epoch : epoch <= before;
    if (!isKept) report("a-change-is-kept", uid, `of epoch ${epoch} it is not stored who answers since`);
    const event = eventOf(
      commit.messages.some(({ author }) => author),
      kind,
      takeId,
      uid,
    );
    for (const { author, content } of commit.messages) {
      if (!author) continue;
      const act: Act = { type: "write", uid, name: author.name, epoch, text: content };
      done.add(keyOf(act));
      if (isAsked(uid, (one) => keyOf(one) === keyOf(act))) continue;
      report("an-old-epoch-changes-nothing", uid, `“${content}” is stored at epoch ${epoch}`);
    }
    if (event !== "taken" || name === null) return;
    const act: Act = { type: "take", uid, name, epoch: epoch - 1 };
    done.add(keyOf(act));
    if (where.position === null || isAsked(uid, (one) => keyOf(one) === keyOf(act))) return;
    report("an-old-epoch-changes-nothing", uid, `${name} has it at epoch ${epoch}`);
  }

  const takes = new Set<string>();
  /** The first write of a take says so. */
  function eventOf(isWritten: boolean, kind: string, takeId: string | null, uid: string): "taken" | null {
    if (isWritten || kind !== "person" || takes.has(`${uid} ${takeId}`)) return null;
    takes.add(`${uid} ${takeId}`);
    return "taken";
  }

  function checkAnswered(exchange: Exchange, status: number): void {
    const { about } = exchange;
    if (about.type === "take" && status === 200) {
      if (!done.has(keyOf(about)))
        report("an-act-is-saved", about.uid, `${about.name} has it, and it is not saved`);
      const key = `${about.uid} ${about.epoch}`;
      const other = taken.get(key);
      const sinceMs = Math.min(other?.sentAtMs ?? Infinity, exchange.sentAtMs);
      if (other && !ledger.isDisturbed(about.uid, sinceMs)) {
        report(
          "one-has-the-thread",
          about.uid,
          `${other.client} and ${exchange.client} at epoch ${about.epoch}`,
        );
      }
      taken.set(key, exchange);
    }
    if (
      about.type === "write" &&
      status === 201 &&
      ![...done].some((key) => key.startsWith(`${about.uid} write `) && key.endsWith(` ${about.text}`))
    ) {
      report("an-act-is-saved", about.uid, `“${about.text}” is answered, and not saved`);
    }
  }

  function checkAsked(by: string, runId: string): void {
    const uid = ledger.threadOf(runId);
    const answerer = uid === undefined ? null : ledger.truth(uid).answerer;
    if (uid === undefined || !answerer || answerer.kind === "model" || answerer.by !== by) return;
    if (answerer.opId === null || !heardOf.has(answerer.opId)) return;
    // It may have written among stragglers since.
    if (ledger.isDisturbed(uid, answerer.atMs)) return;
    report("no-model-with-a-person", uid, `${by} asks a model for ${runId}, the thread is ${answerer.kind}`);
  }

  return {
    see(happening) {
      if (happening.type === "commit heard") heardOf.add(happening.opId);
      if (happening.type === "committed") checkCommitted(happening);
      if (happening.type === "answered") checkAnswered(happening.exchange, happening.status);
      if (happening.type === "model asked") checkAsked(happening.by, happening.turn.run.runId);
      if (happening.type === "asked") {
        const { about } = happening.exchange;
        const isAct = about.type === "take" || about.type === "write" || about.type === "give back";
        if (isAct) asked.set(about.uid, [...(asked.get(about.uid) ?? []), about]);
      }
      if (happening.type === "heard" && happening.status === 201) {
        const { about } = happening.exchange;
        if (about.type === "write") heard.push(about);
      }
    },

    atRest() {
      for (const { uid, text } of heard) {
        const isThere = ledger.truth(uid).messages.some(({ author, content }) => author && content === text);
        if (!isThere && !ledger.isLostText(uid, text))
          report("a-person-is-not-lost", uid, `“${text}” is gone`);
      }
      for (const uid of ledger.threads()) {
        const { name, deadlineMs } = ledger.truth(uid).answerer;
        const whom = name === null ? "a person" : `an answer of ${name}`;
        if (deadlineMs !== null) report("a-wait-ends", uid, `it waits for ${whom} still`);
      }
    },
  };
}
