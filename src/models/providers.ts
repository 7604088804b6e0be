import type { Clock } from "../clock.ts";
import type { PlainLog } from "../log.ts";
import { ModelFault } from "../model.ts";
import type { Model, ModelNote, ModelRequest, ModelTurn, Prices } from "../model.ts";
import { traceFields } from "../trace.ts";
import type { Tracing } from "../trace.ts";
import { Gone, OtherMayAnswer, PassingFault } from "./faults.ts";
import { createGone } from "./gone.ts";
import { nameOf } from "./member.ts";
import type { Member } from "./member.ts";
import type { Provider } from "./openai.ts";
import { createRests } from "./rests.ts";
import type { Asked } from "./refusals/stream-learning.ts";
import { uselessIn } from "./reply/useless-turn.ts";

export interface ModelNames {
  /** The chain behind a name, in order; null: no such name. */
  membersOf(name: string): readonly Member[] | null;
  defaultModel: string;
  /** All that the settings name; absent: none. */
  members?: readonly Member[];
}

/** One request to one member, and its outcome. */
export interface MemberCall extends Member {
  outcome: "done" | "failed" | "fell_over" | "aborted";
}

export interface ProvidersOptions {
  kind: Model["kind"];
  providers: readonly Provider[];
  names: ModelNames;
  clock: Pick<Clock, "elapsed">;
  log: Pick<PlainLog, "warn" | "info">;
  onCall: (call: MemberCall) => void;
  /** Absent: nobody has said. */
  prices?: Prices;
  /** Absent: traces are off. */
  tracing?: Tracing;
}

/**
 * Several providers as one model. A name may be a chain: its next member is asked when one cannot be reached, is
 * overloaded, falls silent, refuses the key, has no such model, answers 5xx or something that is no answer, as long as no
 * text of the turn was passed on. A member that is ill rests for a while; the member that answered the run so far is asked
 * first.
 */
export function openProviders(options: ProvidersOptions): Model {
  const { kind, providers, names, clock, log, onCall, prices, tracing } = options;
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  const rests = createRests(clock);
  const gone = createGone();
  /** Faults of single requests, which a member does not rest for: told once in a while. */
  const told = new Map<string, number>();

  function tellsOnce(what: string): boolean {
    const lastMs = told.get(what);
    if (lastMs !== undefined && clock.elapsed() - lastMs < TOLD_EVERY_MS) return false;
    told.set(what, clock.elapsed());
    return true;
  }

  function inTurn(members: readonly Member[], keep: string | undefined): readonly Member[] {
    const kept = members.filter((member) => nameOf(member) === keep);
    const asked =
      kept.length === 0 ? members : [...kept, ...members.filter((member) => !kept.includes(member))];
    const rested = asked.filter((member) => !rests.rests(nameOf(member)));
    // If all rest, all are asked: the first may have recovered, and a late answer is better than none.
    return rested.length > 0 ? rested : asked;
  }

  function wayOf({ provider }: Member): string | null {
    return byName.get(provider)?.way ?? null;
  }

  async function ask(member: Member, asked: Asked, tries: number): Promise<ModelTurn> {
    const provider = byName.get(member.provider);
    if (!provider) throw new ModelFault("The model is not configured");
    const request: ModelRequest = {
      ...asked.request,
      sent: (one) => asked.request.sent?.(Object.assign(one, { by: nameOf(member) })),
    };
    if (!tracing) return provider.stream(member.model, { ...asked, request, tries });
    return tracing.chat({ ...member, request }, (traceparent) =>
      provider.stream(member.model, { ...asked, request: { ...request, traceparent }, tries }),
    );
  }

  async function askChain(members: readonly Member[], { request, wrote, signal }: Asked): Promise<ModelTurn> {
    let hasTold = false;
    const told: Asked["wrote"] = (text) => {
      hasTold = true;
      return wrote(text);
    };
    const order = inTurn(members, request.keep);
    for (const [at, member] of order.entries()) {
      const isLast = at === order.length - 1;
      rests.asked(nameOf(member));
      try {
        // Only the last member is tried again: for the visitor, asking the next one is faster.
        const turn = await ask(member, { request, wrote: told, signal }, isLast ? LAST_TRIES : 1);
        const useless = isLast || hasTold ? null : uselessIn(turn, request);
        if (useless) throw useless;
        answered(member, turn, request);
        return { ...turn, isOfChain: true };
      } catch (error) {
        const fault = !signal.aborted && error instanceof OtherMayAnswer ? error : null;
        if (fault?.rests)
          rests.failed(nameOf(member), fault instanceof PassingFault ? fault.retryAfterMs : null);
        else if (signal.aborted && !hasTold) rests.left(nameOf(member));
        else rests.well(nameOf(member));
        const fallsOver = fault !== null && !hasTold && !isLast;
        onCall({ ...member, outcome: outcomeOf(signal, fallsOver) });
        const isNewlyGone = fault !== null && noteGone(member, fault);
        if (!fallsOver) throw error;
        if (isNewlyGone) continue;
        if (fault.rests || tellsOnce(`${nameOf(member)} ${fault.message}`))
          log.warn(
            { model: nameOf(member), next: nextName(order, at), ...tracedBy(request), err: error },
            "a model failed: the next one is asked",
          );
      }
    }
    throw new ModelFault("The model is not configured");
  }

  function answered(member: Member, turn: ModelTurn, request: Asked["request"]): void {
    rests.well(nameOf(member));
    gone.is(member, false);
    onCall({ ...member, outcome: "done" });
    if (turn.leftOutTools)
      log.info(
        { model: nameOf(member), tools: turn.leftOutTools, ...tracedBy(request) },
        "a model was offered fewer tools than the run has",
      );
  }

  /** True: it was told. */
  function noteGone(member: Member, fault: ModelFault): boolean {
    if (!(fault instanceof Gone) || !fault.rests || !gone.is(member, true)) return false;
    const { says, remedy } = gone.noteOf(member);
    log.warn({ model: nameOf(member), remedy, err: fault }, `a model is gone: ${says}`);
    return true;
  }

  function tracedBy({ traceparent }: Asked["request"]): object {
    return tracing && traceparent !== null ? traceFields(traceparent) : {};
  }

  async function askOne(member: Member, asked: Asked): Promise<ModelTurn> {
    try {
      const turn = await ask(member, asked, LAST_TRIES);
      answered(member, turn, asked.request);
      return turn;
    } catch (error) {
      onCall({ ...member, outcome: outcomeOf(asked.signal, false) });
      if (error instanceof OtherMayAnswer) noteGone(member, error);
      throw error;
    }
  }

  return {
    kind,
    defaultModel: names.defaultModel,
    knows: (name) => names.membersOf(name) !== null,
    notes: (): ModelNote[] => [...providers.flatMap((provider) => provider.notes()), ...gone.notes()],
    ways: Object.fromEntries((names.members ?? []).map((member) => [nameOf(member), wayOf(member) ?? ""])),
    wayOf: (name) => {
      const [only, ...others] = names.membersOf(name) ?? [];
      return only && others.length === 0 ? wayOf(only) : null;
    },
    answers: (names.membersOf(names.defaultModel) ?? []).map(nameOf),
    ...(prices ? { prices } : {}),

    async stream(request, wrote, signal) {
      signal.throwIfAborted();
      const members = names.membersOf(request.model) ?? [];
      const [only] = members;
      if (!only)
        throw new ModelFault("The model is not configured", {
          cause: new Error(`No model ${request.model}`),
        });
      const asked = { request, wrote, signal };
      return members.length === 1 ? askOne(only, asked) : askChain(members, asked);
    },

    async embed(name, texts, signal) {
      const [member] = names.membersOf(name) ?? [];
      const embed = member && byName.get(member.provider)?.embed;
      if (!embed)
        throw new ModelFault("The embeddings model is not configured", {
          cause: new Error(`No model ${name}`),
        });
      return embed(member.model, texts, signal);
    },

    async close() {
      await Promise.all(providers.map((provider) => provider.close()));
    },
  };
}

const LAST_TRIES = 3;
const TOLD_EVERY_MS = 300_000;

function nextName(order: readonly Member[], at: number): string | null {
  const next = order[at + 1];
  return next ? nameOf(next) : null;
}

function outcomeOf(signal: AbortSignal, fallsOver: boolean): MemberCall["outcome"] {
  if (signal.aborted) return "aborted";
  return fallsOver ? "fell_over" : "failed";
}
