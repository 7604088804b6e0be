import type { Call } from "../../machines/run.ts";
import { cutText } from "../../machines/line.ts";
import type { Agent, Turn, TurnEnd } from "../agent.ts";
import type { Clock } from "../clock.ts";
import type { AgentSettings, Channel } from "../domain/channel.ts";
import type { TurnItem } from "../domain/message.ts";
import type { Log } from "../log.ts";
import type { Model, ModelMessage, ModelTurn } from "../model.ts";
import { createArgumentCheck } from "./argument-check.ts";
import type { ParsedArguments } from "./arguments.ts";
import { DAY_BUDGET_SPENT, outputLeft, RUN_BUDGET_SPENT, tokensOf } from "./budget.ts";
import type { Spending } from "./budget.ts";
import { hearCall, noteCall, resolveCall } from "./calls.ts";
import type { HeardCall } from "./calls.ts";
import { createMcpSessions } from "./mcp.ts";
import { buildPrompt } from "./prompt.ts";
import { offerTools, TASK_FAILED, toolsFor } from "./tools.ts";
import type { Offers } from "./tools.ts";

/** More calls than this in one turn are not heard, and not in the transcript: a model gone wild must not fill the store. */
const CALLS_PER_TURN = 256;

const REASON_CHARS = 1_000;
const NO_REASON = "The agent could not do what was asked.";

export interface AgentOptions {
  model: Model;
  /** The channel as it is now; null where it is gone. */
  channel(slug: string): Channel | null;
  /** OPENAI_MODEL: for channels that name none. */
  defaultModel: string;
  /** AGENT_MAX_INPUT_TOKENS */
  maxInputTokens: number;
  clock: Clock;
  log: Log;
  /** Absent: daily caps are not enforced. */
  spending?: Spending;
}

/** The agent of the contract (agent.ts): one model turn, or one call of a server-side tool. */
export function createAgent(options: AgentOptions): Agent {
  const { model, defaultModel, maxInputTokens, clock, log, spending } = options;
  const mcp = createMcpSessions({ clock, log });
  const check = createArgumentCheck();
  const settingsOf = (slug: string): AgentSettings => options.channel(slug)?.agent ?? {};

  async function isDaySpent(
    { maxTokensPerUserPerDay }: AgentSettings,
    { slug, run }: Turn,
  ): Promise<boolean> {
    if (maxTokensPerUserPerDay === undefined || !spending) return false;
    return (await spending.spent(slug, run.userId)) >= maxTokensPerUserPerDay;
  }

  async function spend(turn: Turn, prompt: ModelMessage[], said: ModelTurn): Promise<void> {
    if (settingsOf(turn.slug).maxTokensPerUserPerDay === undefined || !spending) return;
    try {
      await spending.spend(turn.slug, turn.run.userId, tokensOf(prompt, said));
    } catch (error) {
      // The turn was paid for and its answer is here: it is not thrown away over the bookkeeping.
      log.warn({ err: error, slug: turn.slug }, "cannot note the tokens that a user spent");
    }
  }

  return {
    async think(turn, wrote, signal) {
      const { slug, run, text: said, before, catalog, traceparent } = turn;
      const settings = settingsOf(slug);
      const maxOutputTokens = outputLeft(settings, turn);
      if (maxOutputTokens !== null && maxOutputTokens <= 0) {
        return { type: "overBudget", message: RUN_BUDGET_SPENT };
      }
      if (await isDaySpent(settings, turn)) return { type: "overBudget", message: DAY_BUDGET_SPENT };

      const serverTools = await mcp.tools(slug, settings.mcpServers ?? {}, signal);
      const offers = offerTools(serverTools, run.api === "widget" ? catalog : []);
      const tools = toolsFor(offers);
      const messages = buildPrompt({
        instructions: settings.instructions,
        run,
        said,
        before,
        hasTools: tools.length > 0,
        maxInputTokens,
      });
      const request = {
        model: settings.model ?? defaultModel,
        messages,
        tools,
        maxOutputTokens,
        traceparent,
      };
      const answer = await model.stream(request, wrote, signal);
      await spend(turn, messages, answer);
      return endOf(answer, offers);
    },

    async useTool(slug, call: Call, signal) {
      try {
        return await mcp.call(slug, settingsOf(slug).mcpServers ?? {}, call, signal);
      } catch (error) {
        signal.throwIfAborted();
        log.error({ err: error, slug, tool: call.tool }, "cannot use a tool");
        return { text: "The tool failed.", isError: true };
      }
    },

    close: () => mcp.close(),
  };

  async function endOf(answer: ModelTurn, offers: Offers): Promise<TurnEnd> {
    const { text, usage } = answer;
    const heard = answer.calls.slice(0, CALLS_PER_TURN).map(hearCall);
    const itemOf = (calls: HeardCall[]): TurnItem => ({
      type: "assistant",
      text,
      calls: calls.map(noteCall),
    });

    if (heard.length === 0) return { type: "finished", item: itemOf([]), usage };
    // Whatever else was called beside it, the run is over.
    const gaveUp = offers.size > 0 ? heard.find(({ name }) => name === TASK_FAILED) : undefined;
    if (gaveUp) return { type: "gaveUp", item: itemOf([gaveUp]), reason: reasonIn(gaveUp.parsed), usage };
    const calls = await Promise.all(heard.map((call) => resolveCall(call, offers, check)));
    return { type: "called", item: itemOf(heard), calls, usage };
  }
}

function reasonIn(parsed: ParsedArguments): string {
  const reason = parsed.fits ? parsed.arguments["reason"] : undefined;
  const text = typeof reason === "string" ? cutText(reason.trim(), REASON_CHARS) : "";
  return text === "" ? NO_REASON : text;
}
