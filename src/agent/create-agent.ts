import type { Agent, OnAsked, ToolCaller, Turn, TurnEnd } from "../agent.ts";
import type { Clock } from "../clock.ts";
import { withoutOwnFields } from "../domain/channels/model-body.ts";
import type { AgentSettings, Channel, McpServer } from "../domain/channels/channel.ts";
import { peopleNow } from "../domain/threads/hand-off.ts";
import { newestWithin } from "../domain/threads/newest-within.ts";
import type { User } from "../domain/people/user.ts";
import { SEARCH_KNOWLEDGE } from "../domain/channels/knowledge.ts";
import type { Knowledge } from "../knowledge.ts";
import type { Log } from "../log.ts";
import type { Model, ModelRequest, ModelTurn, Wrote } from "../model.ts";
import { traceFields } from "../trace.ts";
import type { Tracing } from "../trace.ts";
import { createArgumentCheck } from "./tools/argument-check.ts";
import { createDailyBudget, DAY_SENTENCES, outputLeft, RUN_BUDGET_SPENT } from "./budget.ts";
import type { DayCap, SharedCaps, Spending } from "./budget.ts";
import type { Caller } from "./mcp/identity.ts";
import { slugOfState } from "./mcp/sign-in/visitor-oauth.ts";
import { isVisitors } from "./mcp/sign-in/visitor-sessions.ts";
import { searchKnowledge, useSearch } from "./tools/search-knowledge.ts";
import { createMcpSessions } from "./mcp/sessions.ts";
import type { McpSessions, SessionsOptions } from "./mcp/sessions.ts";
import { fitOffers } from "./tools/fit-offers.ts";
import { maxCharsOf, summarizesTo } from "./history/history-limit.ts";
import { createSummarize } from "./history/summarize.ts";
import { fitPrompt } from "./fit-prompt.ts";
import { createLeftOutTools } from "./tools/left-out-tools.ts";
import { buildPrompt } from "./prompt.ts";
import type { PromptInput } from "./prompt.ts";
import { offerTools, ownTools, toolsFor, withApprovers } from "./tools/tools.ts";
import { createTurnCost } from "./turn-cost.ts";
import { turnEnd } from "./turn-end.ts";

export interface AgentOptions {
  model: Model;
  /** The present channel; null if it is gone. */
  channel(slug: string): Channel | null;
  /** OPENAI_MODEL, for channels that name none. */
  defaultModel: string;
  /** AGENT_MAX_INPUT_TOKENS */
  maxInputTokens: number;
  clock: Clock;
  log: Log;
  /** Absent: daily caps are not enforced. */
  spending?: Spending;
  caps?: SharedCaps;
  /** Called when a run ends because of a daily cap. */
  onSpent?(spent: { slug: string; cap: DayCap }): void;
  /** The documents of channels; absent: there are none. */
  knowledge?: Pick<Knowledge, "search">;
  /** The user for whom a tool is called; absent: servers that ask for it get nobody. */
  findUser?(slug: string, userId: string): Promise<Pick<User, "userId" | "externalId"> | null>;
  /** Reads a variable that a channel's settings refer to. */
  variable?: NonNullable<SessionsOptions["variable"]>;
  /** May this MCP server of a channel have a private address? Absent: none may. */
  allowsPrivate?: NonNullable<SessionsOptions["allowsPrivate"]>;
  onMcpRequest?: NonNullable<SessionsOptions["onRequest"]>;
  /** Absent: visitors cannot sign in to MCP servers. */
  signIns?: NonNullable<SessionsOptions["signIns"]>;
  /** Absent: traces are off. */
  tracing?: Tracing;
  /** Used instead of sessions with the channels' MCP servers. */
  mcp?: McpSessions;
}

/** What else is asked of the model, and of whom. */
function further(settings: AgentSettings, run: Turn["run"]): Pick<ModelRequest, "body" | "keep"> {
  const keep = run.turns.findLast((item) => item.type === "assistant")?.by;
  return { ...bodyOf(settings), ...(keep === undefined ? {} : { keep }) };
}

function bodyOf({ body, temperature, reasoningEffort }: AgentSettings): Pick<ModelRequest, "body"> {
  const fields = {
    ...(body ? withoutOwnFields(body) : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
  };
  return Object.keys(fields).length > 0 ? { body: fields } : {};
}

function sessionsOptions(options: AgentOptions): SessionsOptions {
  const { clock, log, variable, allowsPrivate, onMcpRequest, signIns } = options;
  return {
    clock,
    log,
    ...(allowsPrivate ? { allowsPrivate } : {}),
    ...(variable ? { variable } : {}),
    ...(signIns ? { signIns } : {}),
    ...(onMcpRequest ? { onRequest: onMcpRequest } : {}),
  };
}

/** The rest is for the question, the run and the summary. */
const HISTORY_SHARE = 0.75;

/** The agent of the contract (agent.ts): one model turn, or one call of a server-side tool. */
export function createAgent(options: AgentOptions): Agent {
  const { model, defaultModel, maxInputTokens, log, spending, tracing } = options;
  const mcp = options.mcp ?? createMcpSessions(sessionsOptions(options));
  const check = createArgumentCheck();
  const leftOutTools = createLeftOutTools(log);
  const daily = createDailyBudget({
    log,
    ...(spending ? { spending } : {}),
    ...(options.caps ? { caps: options.caps } : {}),
  });
  const settingsOf = (slug: string): AgentSettings => options.channel(slug)?.agent ?? {};
  /** By channel: what its tools took of the last turn's input. */
  const toolTokens = new Map<string, number>();

  function promptInput(
    { slug, before: all, catalog: _, traceparent: __, usage: ___, ...told }: Turn,
    {
      toolTokens,
      ...given
    }: {
      instructions: string | undefined;
      missing: string[];
      hasTools: boolean;
      allowsHandOff: boolean;
      nobodyThere?: NonNullable<PromptInput["nobodyThere"]>;
      knows: NonNullable<PromptInput["knows"]> | null;
      toolTokens: number;
    },
  ): PromptInput {
    const left = maxInputTokens - toolTokens;
    const { history, images = false } = settingsOf(slug);
    const maxChars = maxCharsOf(history);
    const before = maxChars === Infinity ? all : newestWithin(all, maxChars);
    return { ...given, ...told, before, seesImages: images, maxInputTokens: left };
  }

  /** Read only if a server needs it. */
  async function callerOf(
    slug: string,
    server: McpServer | undefined,
    caller?: ToolCaller,
  ): Promise<Caller | null> {
    if (!server || !caller || !("identity" in server || isVisitors(server))) return null;
    const user = await options.findUser?.(slug, caller.userId);
    if (!user) throw new Error("Cannot say who asks: the user is unknown");
    const { userId, externalId } = user;
    const isVerified = caller.api === "server" || externalId !== null;
    return { userId, externalId, channel: slug, thread: caller.uid, isVerified };
  }

  async function think(turn: Turn, wrote: Wrote, signal: AbortSignal, onAsked?: OnAsked): Promise<TurnEnd> {
    const { slug, run, catalog, traceparent } = turn;
    const settings = settingsOf(slug);
    const maxOutputTokens = outputLeft(settings, turn);
    if (maxOutputTokens !== null && maxOutputTokens <= 0) {
      return { type: "overBudget", message: RUN_BUDGET_SPENT };
    }
    const spentCap = await daily.spentCap(settings, turn);
    if (spentCap !== null) {
      options.onSpent?.({ slug, cap: spentCap });
      return { type: "overBudget", message: DAY_SENTENCES[spentCap] };
    }

    const mayUseTools = turn.withoutTools !== true;
    const served = mayUseTools
      ? await mcp.tools(slug, settings.mcpServers ?? {}, signal, run.userId)
      : { tools: [], missing: [] };
    const channel = options.channel(slug);
    const people = peopleNow(mayUseTools ? channel : null, options.clock.now());
    const handsOff = people.type === "there";
    const knows = options.knowledge && mayUseTools ? channel?.knowledge : undefined;
    const own = knows ? [searchKnowledge] : [];
    const named = offerTools(
      [...own, ...withApprovers(served.tools, settings.tools)],
      run.api === "widget" ? catalog : [],
      handsOff,
    );
    const { offers, leftOut, tokens } = fitOffers(named, { own: ownTools(handsOff), maxInputTokens });
    leftOutTools.note(slug, leftOut);
    if (settings.history?.summary) toolTokens.set(slug, tokens);
    const queues = channel?.handoff?.queues ?? [];
    const tools = toolsFor(offers, handsOff, queues);
    const input = promptInput(turn, {
      instructions: settings.instructions,
      missing: served.missing,
      hasTools: offers.size > 0,
      allowsHandOff: handsOff,
      ...(people.type === "away"
        ? {
            nobodyThere: {
              againAtMs: people.againAtMs,
              timeZone: channel?.handoff?.hours?.timeZone ?? "UTC",
            },
          }
        : {}),
      knows: knows ? (knows.only ? "only" : "also") : null,
      toolTokens: tokens,
    });
    const name = settings.model ?? defaultModel;
    const messages = buildPrompt(input);
    const fit = (maxTokens: number) => fitPrompt(input, tools, maxTokens);
    const cost = createTurnCost(tools, model.prices);
    const account = daily.account(settings, turn);
    const request: ModelRequest = {
      model: name,
      messages,
      tools,
      maxOutputTokens,
      traceparent,
      ...further(settings, run),
      fit,
      sent(sent) {
        cost.sent(sent);
        onAsked?.(cost.soFar, cost.money);
        account?.book(cost.soFar());
      },
    };
    let answer: ModelTurn;
    try {
      answer = await model.stream(request, wrote, signal);
    } finally {
      await account?.settle(cost.soFar());
    }
    // Of all its requests, if it took several. Without usage it stays unknown: no caller is told an estimate.
    const usage = answer.usage && cost.soFar();
    const hasSaid = run.kept !== undefined || run.lines.some(({ type }) => type === "delta");
    return turnEnd({ ...answer, usage }, { offers, check, hasSaid, allowsHandOff: handsOff, queues });
  }

  const useTool: Agent["useTool"] = async (slug, call, signal, by) => {
    const { mcpServers: servers = {}, images: takesImages = false } = settingsOf(slug);
    const traceparent = by?.traceparent ?? null;
    try {
      if (options.knowledge && call.server === undefined && call.tool === SEARCH_KNOWLEDGE)
        return await useSearch(options.knowledge, slug, call.arguments["query"]);
      const server = call.server ?? "";
      const caller = await callerOf(slug, Object.hasOwn(servers, server) ? servers[server] : undefined, by);
      const { asks, waitMs = 0 } = by ?? {};
      const waits = asks ? { asks, waitMs } : null;
      return await mcp.call(slug, servers, { call, caller, traceparent, takesImages, waits }, signal);
    } catch (error) {
      signal.throwIfAborted();
      const traced = tracing && traceparent !== null ? traceFields(traceparent) : {};
      log.error({ err: error, slug, tool: call.tool, ...traced }, "cannot use a tool");
      return { text: "The tool failed.", isError: true };
    }
  };

  return {
    think,

    useTool(slug, call, signal, by) {
      if (!tracing || !by) return useTool(slug, call, signal, by);
      return tracing.tool({ call, traceparent: by.traceparent ?? null }, (traceparent) =>
        useTool(slug, call, signal, { ...by, traceparent }),
      );
    },

    summarizesTo(slug, history) {
      const settings = settingsOf(slug).history;
      if (!settings?.summary) return null;
      const maxTokens = (maxInputTokens - (toolTokens.get(slug) ?? 0)) * HISTORY_SHARE;
      return summarizesTo(history, { maxChars: maxCharsOf(settings), maxTokens });
    },

    summarize: createSummarize({ model, defaultModel, daily, settingsOf, bodyOf }),

    async finishSignIn(answer) {
      const slug = slugOfState(answer.state);
      const channel = slug === null ? null : options.channel(slug);
      if (!channel) return null;
      return (await mcp.finishSignIn?.(channel.slug, channel.agent.mcpServers ?? {}, answer)) ?? null;
    },

    warnings: () => [
      ...mcp
        .ill()
        .map(
          ({ channel, server, fault }) =>
            `MCP server ${server} of channel ${channel} cannot be used: its tools are left out${fault === null ? "" : `: ${fault}`}`,
        ),
      ...mcp
        .odd()
        .map(({ channel, server, oddities }) => `MCP server ${server} of channel ${channel}: ${oddities}`),
      ...leftOutTools.warnings(),
    ],

    close: () => mcp.close(),
  };
}
