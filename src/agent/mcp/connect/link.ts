import { AnswerTooLong } from "../../../bounded-body.ts";
import type { Clock } from "../../../clock.ts";
import type { McpServer } from "../../../domain/channels/channel.ts";
import type { Log } from "../../../log.ts";
import { openConnection } from "./connection.ts";
import type { McpConnection } from "./connection.ts";
import type { ConnectionOptions } from "./connection-options.ts";
import type { ListedTools } from "../list-tools.ts";
import type { VisitorTokens } from "../sign-in/visitor-oauth.ts";
import { Unusable } from "./unusable.ts";

/** An open connection, and what is known of the server's tools. */
export interface ConnectedServer {
  connection: McpConnection;
  /** null: to be listed, for the first time or again. */
  tools: Promise<ListedTools> | null;
  /** When they were asked for last. */
  listedAtMs: number;
  /** How long what was listed holds. */
  holdsMs: number;
  /** Under way. */
  calls: Set<Promise<unknown>>;
}

export interface LinkOptions {
  name: string;
  channel: string;
  variable: ConnectionOptions["variable"];
  settings: McpServer;
  connectMs: number;
  /** How long a call may take. */
  callMs: number;
  /** True: the server's address may be private. */
  allowsPrivate: boolean;
  /** The visitor's own tokens; absent: the connection is for all. */
  tokens?: VisitorTokens;
  clock: Clock;
  log: Log;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const STDERR_CHARS = 500;

/**
 * Connects to one MCP server: when it is first needed, once for all that need it, and again when the connection broke.
 * After a failure it is not tried again before a pause, which doubles with each failure.
 */
export class McpLink {
  readonly #options: LinkOptions;
  #connecting: Promise<ConnectedServer> | null = null;
  /** What `#connecting` resolved to; null until then. */
  #connected: ConnectedServer | null = null;
  /** Connections that nobody uses anew: each is closed when the calls that it has are over. */
  readonly #dropped = new Set<ConnectedServer>();
  #failures = 0;
  #fault: string | null = null;
  #nextTryAt = 0;
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Rejects if it cannot connect, or failed too short a time ago. */
  async connect(): Promise<ConnectedServer> {
    const { name, clock } = this.#options;
    if (this.#connecting) return this.#connecting;
    if (this.#isClosed) throw new Error(`Cannot use MCP server ${name}: it is closed`);
    if (clock.elapsed() < this.#nextTryAt) throw new Error(`Cannot use MCP server ${name}: it failed lately`);
    this.#connecting = this.#open();
    try {
      return await this.#connecting;
    } catch (error) {
      this.#connecting = null;
      // Nothing is wrong with the server, and when the visitor comes back it is asked at once.
      if (!this.#options.tokens?.isSignInNeeded) this.noteFailure(error);
      throw error;
    }
  }

  /** The next use opens another connection. Calls of other runs may still get their answers by this one. */
  drop(server: ConnectedServer): void {
    if (this.#connected !== server) return;
    this.#connected = null;
    this.#connecting = null;
    this.#dropped.add(server);
    void Promise.allSettled(server.calls).then(() => {
      if (this.#dropped.delete(server)) void server.connection.close();
    });
  }

  /** Connecting or listing failed. */
  noteFailure(error: unknown): void {
    if (this.#isClosed) return;
    const { name, channel, clock, log } = this.#options;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#failures += 1;
    this.#nextTryAt = clock.elapsed() + pauseMs;
    const isKnown = error instanceof Unusable || error instanceof AnswerTooLong;
    this.#fault = isKnown ? error.message : null;
    const why = this.#fault === null ? "" : `: ${this.#fault}`;
    log.warn(
      { server: name, channel, err: error, pauseMs },
      `MCP server cannot be used: its tools are left out${why}`,
    );
  }

  /** Connecting or listing failed the last time. */
  get isIll(): boolean {
    return this.#failures > 0;
  }

  /** Why, where it is known what is missing; null: not. */
  get fault(): string | null {
    return this.isIll ? this.#fault : null;
  }

  /** Connecting and listing went well. */
  noteSuccess(): void {
    this.#failures = 0;
  }

  /** For good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const server = await this.#connecting?.catch(() => null);
    this.#connecting = null;
    this.#connected = null;
    const open = [...this.#dropped, ...(server ? [server] : [])];
    this.#dropped.clear();
    await Promise.all(open.map(({ connection }) => connection.close()));
  }

  async #open(): Promise<ConnectedServer> {
    const { name, channel, variable, settings, connectMs, callMs, allowsPrivate, tokens, log } =
      this.#options;
    let server: ConnectedServer | null = null;
    const connection = await openConnection({
      name,
      channel,
      variable,
      settings,
      timeoutMs: connectMs,
      callMs,
      allowsPrivate,
      ...(tokens ? { tokens } : {}),
      onToolsChanged: () => {
        if (server) server.tools = null;
      },
      onClosed: () => {
        if (server) this.drop(server);
      },
      onStderr: (text) => log.debug({ server: name, stderr: text.slice(0, STDERR_CHARS) }, "MCP server says"),
    });
    server = { connection, tools: null, listedAtMs: 0, holdsMs: 0, calls: new Set() };
    this.#connected = server;
    return server;
  }
}
