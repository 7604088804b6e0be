import type { Call, RefusedCall } from "../../machines/run.ts";
import type { Agent, Turn, TurnEnd } from "../../src/agent.ts";
import { ModelFault } from "../../src/model.ts";

/**
 * An agent that the test plays: every turn and every tool call waits until the test says how it goes.
 * It decides nothing; what the real one decides is proven in test/agent.
 */
export interface ScriptedAgent extends Agent {
  /** The next turn that is asked for; waits for it. */
  turn(): Promise<PlayedTurn>;
  /** The next server-side tool call that is asked for. */
  toolCall(): Promise<PlayedToolCall>;
  /** How many turns were asked for so far: model calls. */
  readonly turns: number;
}

export interface PlayedTurn {
  readonly turn: Turn;
  readonly signal: AbortSignal;
  write(text: string): void;
  /** Resolves when the model may go on. */
  writeAndWait(text: string): Promise<void>;
  finish(): void;
  call(...calls: (Call | RefusedCall)[]): void;
  giveUp(reason: string): void;
  handOff(reason: string, summary: string, queue?: string): void;
  fail(message: string): void;
}

export interface PlayedToolCall {
  readonly call: Call;
  answer(text: string, isError?: boolean, images?: readonly string[]): void;
}

export function createScriptedAgent(): ScriptedAgent {
  const asked = createQueue<PlayedTurn>();
  const askedTools = createQueue<PlayedToolCall>();
  let turns = 0;

  return {
    get turns() {
      return turns;
    },
    turn: () => asked.take(),
    toolCall: () => askedTools.take(),

    think(turn, wrote, signal) {
      turns++;
      return new Promise<TurnEnd>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        let text = "";
        const item = (calls: (Call | RefusedCall)[] = []) => ({
          type: "assistant" as const,
          text,
          calls: calls.map((call) => ({
            callId: call.callId,
            offeredName: call.kind === "refused" ? "unknown" : call.tool,
            arguments: call.kind === "refused" ? "{}" : JSON.stringify(call.arguments),
          })),
        });
        const usage = { input: 10, output: 5 };
        asked.put({
          turn,
          signal,
          write(chunk) {
            text += chunk;
            void wrote(chunk);
          },
          async writeAndWait(chunk) {
            text += chunk;
            await wrote(chunk);
          },
          finish: () => resolve({ type: "finished", item: item(), usage }),
          call: (...calls) => resolve({ type: "called", item: item(calls), calls, usage }),
          giveUp: (reason) => resolve({ type: "gaveUp", item: item(), reason, usage }),
          handOff: (reason, summary, queue) => {
            const asked = { reason, summary, ...(queue === undefined ? {} : { queue }) };
            resolve({ type: "handedOff", item: item(), ...asked, usage });
          },
          fail: (message) => reject(new ModelFault(message)),
        });
      });
    },

    useTool(_slug, call, signal) {
      return new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        askedTools.put({
          call,
          answer: (text, isError = false, images) =>
            resolve({ text, isError, ...(images ? { images } : {}) }),
        });
      });
    },

    async close() {},
  };
}

/** First in, first out; taking waits. */
function createQueue<Item>() {
  const items: Item[] = [];
  const takers: ((item: Item) => void)[] = [];
  return {
    put(item: Item) {
      const taker = takers.shift();
      if (taker) taker(item);
      else items.push(item);
    },
    take(): Promise<Item> {
      const item = items.shift();
      return item ? Promise.resolve(item) : new Promise((resolve) => takers.push(resolve));
    },
  };
}

/** A page call as the agent resolves it. */
export function pageCall(callId: string, tool = "cart"): Call {
  return { callId, kind: "page", tool, arguments: { n: 1 }, progress: "Filling the cart", repeatable: false };
}

/** A server-side call as the agent resolves it. */
export function serverCall(callId: string, tool = "clock", repeatable = false): Call {
  return { ...pageCall(callId, tool), kind: "server", progress: "Looking at the clock", repeatable };
}
