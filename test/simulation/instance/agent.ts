import type { Call, RefusedCall } from "../../../machines/run.ts";
import type { Agent, Turn, TurnEnd } from "../../../src/agent.ts";
import type { TurnItem } from "../../../src/domain/threads/message.ts";
import { ModelFault } from "../../../src/model.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";
import type { Process } from "./process.ts";

/** One turn that a model was asked for, and what it has written of it. Its text names it: see `chunkText`. */
export interface Thought {
  nth: number;
  runId: string;
  chunks: string[];
  /** It wrote all that it had to. */
  isWhole: boolean;
}

/** Agents of one simulation share the numbers of their thoughts and calls. */
export interface AgentNumbers {
  thoughts: number;
  calls: number;
}

/** A piece of a thought's text: `[12.0]` and some words. */
export function chunkText(nth: number, chunk: number, words: string): string {
  return `[${nth}.${chunk}]${words}`;
}

const WORDS = ["lorem", "ipsum ", "è", "👋 ", "do\nlor ", "\u2028", "sit"] as const;
const LONG = "x".repeat(30_000);

/** Server-side tools; `look` may be called again after a crash. */
const SERVER_TOOLS = ["look", "pay"] as const;
/** Its calls need the user's approval. */
export const CONFIRMED_TOOL = "order";

/** A model with tools whose every choice is the seed's. */
export function createSimulatedAgent(world: World, process: Process, numbers: AgentNumbers): Agent {
  const { plan, judge, trace } = world;
  const { model } = plan;
  const random = world.randomOf(`model of ${process.id}`);
  const ofTalk = world.randomOf(`wishes of ${process.id}`);

  async function write(thought: Thought, wrote: (text: string) => unknown, signal: AbortSignal) {
    const chunks = random.whole(...model.chunks);
    for (let chunk = 0; chunk < chunks; chunk++) {
      await wait(random.between(...model.chunkMs), signal);
      const text = chunkText(thought.nth, chunk, wordsOf(random, model.isLong));
      thought.chunks.push(text);
      await wrote(text);
      signal.throwIfAborted();
    }
    await wait(random.between(...model.chunkMs), signal);
  }

  /** Rejects with the signal's reason. */
  function wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const callOff = process.timers.after(ms, () => {
        signal.removeEventListener("abort", leave);
        resolve();
      });
      function leave(): void {
        callOff();
        reject(signal.reason as Error);
      }
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  function callsOf(turn: Turn): (Call | RefusedCall)[] {
    const calls: (Call | RefusedCall)[] = [];
    const tool = turn.run.api === "widget" ? random.pickAny(turn.catalog) : undefined;
    if (tool && random.chance(model.pageCall)) calls.push(madeCall("page", tool.name));
    if (random.chance(model.serverCall)) calls.push(...serverCalls(random.pick(SERVER_TOOLS)));
    if (ofTalk.chance(plan.talk.confirms)) {
      calls.push({ ...madeCall("server", CONFIRMED_TOOL), confirm: "visitor" });
    }
    if (random.chance(model.refusedCall)) {
      calls.push({ callId: newCallId(), kind: "refused", reason: "There is no such tool" });
    }
    return random.chance(0.5) ? calls : calls.toReversed();
  }

  /** Of a tool that only reads, sometimes several, which are made side by side. */
  function serverCalls(tool: string): Call[] {
    const calls = [madeCall("server", tool)];
    while (tool === "look" && calls.length < 4 && random.chance(0.4)) calls.push(madeCall("server", tool));
    return calls;
  }

  function newCallId(): string {
    return `call-${++numbers.calls}`;
  }

  function madeCall(kind: Call["kind"], tool: string): Call {
    const callId = newCallId();
    return {
      callId,
      kind,
      tool,
      arguments: { n: 1 },
      progress: `Using ${tool}`,
      repeatable: tool === "look",
      ...(tool === "look" && kind === "server" ? { readOnly: true as const } : {}),
    };
  }

  return {
    async think(turn, wrote, signal): Promise<TurnEnd> {
      const { runId } = turn.run;
      const thought: Thought = { nth: ++numbers.thoughts, runId, chunks: [], isWhole: false };
      judge({ type: "model asked", by: process.id, turn: structuredClone(turn), thought });
      const mayFail = !world.faultsAreOver();
      await write(thought, wrote, signal);
      if (mayFail && random.chance(model.stalls)) {
        trace.add(null, `${process.id}: thought ${thought.nth} stalls`);
        for (;;) await wait(1_000, signal);
      }
      if (mayFail && random.chance(model.fails)) throw new ModelFault("The model fell silent");
      thought.isWhole = true;
      const usage = { input: 10, output: thought.chunks.length };
      const calls = turn.run.turns.length > 8 ? [] : callsOf(turn);
      const item = itemOf(thought, calls);
      // Where nobody hands over, nothing is drawn for it: such seeds go on as they did.
      if (plan.people.handsOff > 0 && !model.isLong && random.chance(plan.people.handsOff)) {
        return { type: "handedOff", item, reason: "Wants a person", summary: "So far", usage };
      }
      if (calls.length > 0) return { type: "called", item, calls, usage };
      if (random.chance(model.givesUp)) return { type: "gaveUp", item, reason: "I cannot do that", usage };
      return { type: "finished", item, usage };
    },

    async useTool(_slug, call, signal) {
      judge({ type: "tool called", by: process.id, call });
      await wait(random.between(0, 300), signal);
      return { text: toolText(call.callId), isError: random.chance(0.2) };
    },

    async close() {},
  };
}

export function toolText(callId: string): string {
  return `result of ${callId}`;
}

function wordsOf(random: Random, isLong: boolean): string {
  const words = Array.from({ length: random.whole(0, 3) }, () => random.pick(WORDS)).join("");
  return isLong && random.chance(0.5) ? words + LONG : words;
}

function itemOf({ chunks }: Thought, calls: readonly (Call | RefusedCall)[]): TurnItem {
  return {
    type: "assistant",
    text: chunks.join(""),
    calls: calls.map((call) => ({
      callId: call.callId,
      offeredName: call.kind === "refused" ? "unknown" : call.tool,
      arguments: "{}",
    })),
  };
}
