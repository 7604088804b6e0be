import type { Clock } from "../../clock.ts";
import type { McpServer } from "../../domain/channels/channel.ts";
import { resultText } from "../../domain/channels/tool-text.ts";
import type { Log } from "../../log.ts";
import { abortable } from "../abortable.ts";
import { mcpFaultOf } from "./fault.ts";
import type { Caller } from "./identity.ts";
import { McpLink } from "./connect/link.ts";
import type { ConnectedServer, LinkOptions } from "./connect/link.ts";
import { holdsMs } from "./list-tools.ts";
import type { ListedTools } from "./list-tools.ts";
import { MOST_TOLD, odditiesOf } from "./oddities.ts";
import { toolAnswer } from "./tool-result.ts";
import type { ToolAnswer } from "./tool-result.ts";
import { SIGN_IN, SIGN_IN_FIRST, signInTool } from "./sign-in/sign-in-tool.ts";
import type { VisitorTokens } from "./sign-in/visitor-oauth.ts";
import { wantedInput, wantedMeanwhile, wantedSignIn } from "./wanted-input.ts";
import type { ServerTool } from "../tools/tools.ts";

export interface ToolUse {
  tool: string;
  arguments: Record<string, unknown>;
  /** May be made again if it is unknown whether it was done. */
  repeatable: boolean;
  /** null: nobody's, or of nobody that is known. */
  caller: Caller | null;
  /** W3C trace context that the server is told. */
  traceparent?: string | null;
  /** The model is shown images of the result; absent: it reads their names. */
  takesImages?: boolean;
  /** How a call waits for the visitor (agent.ts, ToolCaller); absent, null: it cannot. */
  waits?: { asks: (shown: string) => () => void; waitMs: number } | null;
}

export interface McpTimeouts {
  connectMs: number;
  listMs: number;
  callMs: number;
}

export const MCP_TIMEOUTS: McpTimeouts = { connectMs: 5_000, listMs: 5_000, callMs: 60_000 };

const NOT_SIGNED_IN = "The server does not take the visitor's sign-in.";
export const NO_LONGER = "This tool is no longer available.";

/** A call that got no answer; see McpFault. `unreachable`: it was never sent. `signInNeeded`: only the visitor can help. */
type NoAnswer = "lost" | "notTaken" | "unreachable" | "signInNeeded";

export interface SessionOptions {
  name: string;
  channel: string;
  variable: LinkOptions["variable"];
  settings: McpServer;
  timeouts: McpTimeouts;
  /** True: the server's address may be private. */
  allowsPrivate: boolean;
  /** The visitor's own tokens; absent: the session is for all runs of the channel. */
  tokens?: VisitorTokens;
  clock: Clock;
  log: Log;
}

/**
 * One MCP server of a channel, shared by all its runs. Its tools are listed once, again when it says that they
 * changed, and every few minutes. A server that is down costs its own tools, not the run.
 */
export class McpSession {
  readonly #name: string;
  readonly #channel: string;
  readonly #timeouts: McpTimeouts;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #link: McpLink;
  readonly #offers: { allow?: string[]; deny?: string[] };
  readonly #calls = new Set<Promise<unknown>>();
  readonly #hasIdentity: boolean;
  readonly #tokens: VisitorTokens | null;
  /** Tools that asked for what cannot be given. */
  readonly #wanting = new Set<string>();
  /** Of the tools that were listed last. */
  #oddities: string | null = null;

  constructor(options: SessionOptions) {
    const { name, settings, timeouts, clock, log } = options;
    const { connectSeconds, callSeconds } = settings.timeouts ?? {};
    const connectMs = connectSeconds === undefined ? timeouts.connectMs : connectSeconds * 1_000;
    this.#name = name;
    this.#channel = options.channel;
    this.#hasIdentity = "identity" in settings && settings.identity !== undefined;
    this.#tokens = options.tokens ?? null;
    this.#timeouts = {
      connectMs,
      listMs: connectSeconds === undefined ? timeouts.listMs : connectMs,
      callMs: callSeconds === undefined ? timeouts.callMs : callSeconds * 1_000,
    };
    this.#offers = settings.tools ?? {};
    this.#clock = clock;
    this.#log = log;
    this.#link = new McpLink({ ...options, connectMs, callMs: this.#timeouts.callMs });
  }

  /** null while the server cannot be used. Rejects with the signal's reason alone. */
  async tools(signal: AbortSignal): Promise<readonly ServerTool[] | null> {
    try {
      return (await this.allTools(signal)).tools.filter((tool) => this.offers(tool));
    } catch {
      // Logged where it happened.
      signal.throwIfAborted();
      return this.#tokens?.isSignInNeeded ? [signInTool(this.#name)] : null;
    }
  }

  /** Those that are not offered too. Rejects with what went wrong. */
  async allTools(signal: AbortSignal): Promise<ListedTools> {
    const server = await abortable(this.#link.connect(), signal);
    return abortable(this.#list(server), signal);
  }

  /** Which revision of MCP the server speaks, and over what. Rejects with what went wrong. */
  async spoken(): Promise<string> {
    return (await this.#link.connect()).connection.spoken;
  }

  offers({ name, destructive }: Pick<ServerTool, "name" | "destructive">): boolean {
    const { allow, deny = [] } = this.#offers;
    if (deny.includes(name)) return false;
    return allow ? allow.includes(name) : !destructive;
  }

  get isIll(): boolean {
    return this.#link.isIll;
  }

  /** Why it cannot be used, where it is known what is missing; null: not. */
  get fault(): string | null {
    return this.#link.fault;
  }

  /** Which tools are left out or mended, and why, in one sentence; null: none. */
  get oddities(): string | null {
    return this.#oddities;
  }

  /** Rejects with the signal's reason alone. */
  async call(use: ToolUse, signal: AbortSignal): Promise<ToolAnswer> {
    const { allow, deny = [] } = this.#offers;
    if (this.#tokens && use.tool === SIGN_IN) return this.#signedIn(use, this.#tokens, signal);
    if (deny.includes(use.tool) || allow?.includes(use.tool) === false) return failed(NO_LONGER);
    const answering = this.#call(use, signal);
    this.#calls.add(answering);
    try {
      return await answering;
    } finally {
      this.#calls.delete(answering);
    }
  }

  /** Closes when the running calls have their answers. */
  async retire(): Promise<void> {
    await Promise.allSettled(this.#calls);
    await this.#link.close();
  }

  /** Closes now. */
  close(): Promise<void> {
    return this.#link.close();
  }

  async #list(server: ConnectedServer): Promise<ListedTools> {
    const listedFor = this.#clock.elapsed() - server.listedAtMs;
    if (server.tools === null) server.tools = this.#ask(server);
    else if (listedFor >= server.holdsMs) this.#listAgain(server, server.tools);
    return server.tools;
  }

  #ask(server: ConnectedServer): Promise<ListedTools> {
    server.listedAtMs = this.#clock.elapsed();
    return server.connection.listTools(this.#timeouts.listMs).then(
      (listed) => {
        this.#link.noteSuccess();
        server.holdsMs = holdsMs(listed);
        this.#noteOdd(listed);
        return listed;
      },
      (error: unknown) => {
        this.#link.drop(server);
        if (!this.#tokens?.isSignInNeeded) this.#link.noteFailure(error);
        throw error;
      },
    );
  }

  /** No turn waits for it: this one is offered what is known. Where it fails, the next one connects anew. */
  #listAgain(server: ConnectedServer, known: ConnectedServer["tools"]): void {
    server.listedAtMs = this.#clock.elapsed();
    server.connection.listTools(this.#timeouts.listMs).then(
      (listed) => {
        // Unless it said meanwhile that they changed.
        if (server.tools !== known) return;
        server.tools = Promise.resolve(listed);
        server.holdsMs = holdsMs(listed);
        this.#noteOdd(listed);
      },
      () => this.#link.drop(server),
    );
  }

  /** Said once, and again when it is another: a server is listed every few minutes. */
  #noteOdd({ odd }: ListedTools): void {
    const { allow, deny = [] } = this.#offers;
    const wanted = odd.filter(
      ({ name }) => name === null || !(deny.includes(name) || allow?.includes(name) === false),
    );
    const text = odditiesOf(wanted);
    if (text !== null && text !== this.#oddities) {
      this.#log.warn(
        { server: this.#name, channel: this.#channel, tools: wanted.slice(0, MOST_TOLD) },
        `MCP server ${this.#name}: ${text}. Mend them at the server, or name them in tools.deny`,
      );
    }
    this.#oddities = text;
  }

  async #call(use: ToolUse, signal: AbortSignal): Promise<ToolAnswer> {
    const answer = await this.#callAgain(use, signal);
    if (answer === "signInNeeded" && this.#tokens) {
      const refused = await this.#signIn(use, this.#tokens, signal);
      if (refused !== null) return refused;
      const signedIn = await this.#callAgain({ ...use, waits: null }, signal);
      return signedIn === "signInNeeded" ? failed(NOT_SIGNED_IN) : this.#answered(signedIn);
    }
    return this.#answered(answer);
  }

  /** Once more where that is safe. */
  async #callAgain(use: ToolUse, signal: AbortSignal): Promise<ToolAnswer | NoAnswer> {
    const first = await this.#callOnce(use, signal);
    const mayRepeat = first === "notTaken" || (first === "lost" && use.repeatable);
    return mayRepeat ? this.#callOnce(use, signal) : first;
  }

  #answered(answer: ToolAnswer | NoAnswer): ToolAnswer {
    if (typeof answer === "object") return answer;
    return answer === "lost"
      ? failed("The connection to the tool was lost. Whether it did its work is unknown.")
      : failed("The tool cannot be reached at the moment.");
  }

  async #callOnce(use: ToolUse, signal: AbortSignal): Promise<ToolAnswer | NoAnswer> {
    let server: ConnectedServer;
    try {
      server = await abortable(this.#link.connect(), signal);
    } catch {
      signal.throwIfAborted();
      return this.#tokens?.isSignInNeeded ? "signInNeeded" : "unreachable";
    }
    const calling = server.connection.callTool(use, {
      timeoutMs: this.#timeouts.callMs,
      signal,
      caller: use.caller,
      traceparent: use.traceparent ?? null,
    });
    server.calls.add(calling);
    try {
      const { result, wanted: asked } = await calling;
      const isTold = this.#isTold(use);
      const wanted = wantedInput(result, isTold) ?? wantedMeanwhile(asked, result, isTold);
      if (wanted !== null) return this.#noteWanted(use.tool, wanted);
      return toolAnswer(result, use.takesImages ?? false);
    } catch (error) {
      signal.throwIfAborted();
      const wanted = wantedSignIn(error, this.#isTold(use));
      if (wanted !== null) return this.#noteWanted(use.tool, wanted);
      if (this.#tokens?.isSignInNeeded) return "signInNeeded";
      return this.#noteFault(server, use.tool, error);
    } finally {
      server.calls.delete(calling);
    }
  }

  /** The tool that is offered while the server tells nobody but its own users which tools it has. */
  async #signedIn(use: ToolUse, tokens: VisitorTokens, signal: AbortSignal): Promise<ToolAnswer> {
    if ((await this.tools(signal)) === null) return failed("The tool cannot be reached at the moment.");
    const refused = tokens.isSignInNeeded ? await this.#signIn(use, tokens, signal) : null;
    return refused ?? { text: "The visitor is signed in. Its tools can be called now.", isError: false };
  }

  /** Null: the visitor has signed in, while the call waited. */
  async #signIn(
    { caller, waits = null }: ToolUse,
    tokens: VisitorTokens,
    signal: AbortSignal,
  ): Promise<ToolAnswer | null> {
    if (caller === null) return failed("Nobody is known who could sign in.");
    try {
      const begun = await tokens.begin(caller.thread);
      const { link } = begun;
      const ended = waits?.asks(link) ?? (() => {});
      try {
        if (waits && (await begun.isDone(waits.waitMs, signal))) return null;
      } finally {
        ended();
      }
      return { text: SIGN_IN_FIRST, isError: true, shown: link };
    } catch (error) {
      signal.throwIfAborted();
      this.#log.warn(
        { server: this.#name, channel: this.#channel, err: error },
        "a visitor cannot sign in to an MCP server",
      );
      return failed("The visitor would have to sign in first, and that is not possible at the moment.");
    }
  }

  /** Without the visitor's token the server knows this connection alone, which all visitors share. */
  #isTold({ caller }: ToolUse): boolean {
    return caller !== null && (this.#hasIdentity || this.#tokens !== null);
  }

  #noteWanted(tool: string, wanted: ToolAnswer): ToolAnswer {
    if (wanted.shown === undefined && !this.#wanting.has(tool) && this.#wanting.size < MOST_TOLD) {
      this.#wanting.add(tool);
      this.#log.warn(
        { server: this.#name, channel: this.#channel, tool },
        "a tool of an MCP server asks for what visitors cannot give here: links are shown where they are https and the server has identity",
      );
    }
    return wanted;
  }

  #noteFault(server: ConnectedServer, tool: string, error: unknown): ToolAnswer | NoAnswer {
    const fault = mcpFaultOf(error);
    switch (fault.type) {
      case "answered":
        return { text: resultText(fault.message), isError: true };
      case "timedOut": {
        const seconds = this.#timeouts.callMs / 1_000;
        return failed(
          `The tool did not answer within ${seconds} seconds. Whether it did its work is unknown.`,
        );
      }
      case "refused":
        this.#log.warn({ server: this.#name, err: error }, "an MCP server refused a call");
        return failed(`The tool's server refused the call (${fault.status}). It did nothing.`);
      case "tooLong":
        this.#log.warn(
          { server: this.#name, tool, err: error },
          "an MCP server's answer to a call is longer than is read: let the tool answer with less",
        );
        return failed("The tool's answer is too long to be read. It has probably done its work.");
      case "lost":
      case "notTaken":
        this.#log.warn({ server: this.#name, err: error }, "lost the connection to an MCP server");
        this.#link.drop(server);
        return fault.type;
    }
  }
}

function failed(text: string): ToolAnswer {
  return { text, isError: true };
}
