import { ErrorReply } from "redis";
import { StoreUnavailable } from "../../../store.ts";
import { connectionWith, FLAT } from "./connection.ts";
import type { ConnectionOptions, Reply } from "./connection.ts";
import { library, traceCall } from "./library.ts";
import { isMissingFunction, refusalIn } from "./refusal.ts";

/** One Redis server, over one connection that reconnects by itself until it is closed. */
export interface Server {
  readonly isReady: boolean;
  /** Resolves at the first connection. */
  readonly connected: Promise<unknown>;
  /** Sends a command; if the server lacks the function library, loads it and sends the command again. */
  exchange(args: string[], how: How): Promise<Reply>;
  /** A command outside the store's calls: settings, slots. */
  order(...args: string[]): Promise<Reply>;
  /** True if nothing has come over this connection since then (`performance.now()`). */
  isSilentSince(thenMs: number): boolean;
  close(): void;
}

export interface How {
  /** The answer counts only when a replica has everything that it shows. */
  copied: boolean;
  /** Trace keys of this server (keys.ts), for its WAIT. */
  traces: readonly string[];
  /** The slot is moving to this server: sends ASKING before the command. */
  asking: boolean;
}

const UNCONFIRMED =
  "no replica has confirmed it, as DURABILITY=replica asks: connect one replica to each Redis primary, or unset DURABILITY";

export function openServer(options: {
  connection: ConnectionOptions;
  deadlineMs: number;
  onLost: (error: unknown) => void;
  onReady: () => void;
  /** The server answers that it does not do a command. */
  onRefused?: (error: ErrorReply) => void;
}): Server {
  const client = connectionWith(options.connection);
  client.on("error", options.onLost).on("ready", options.onReady);
  const connected = client.connect();
  // Callers that wait for it get the error; others learn it from the events.
  connected.catch(() => {});
  // WAIT ends before the call's own deadline.
  const wait = ["WAIT", "1", String(options.deadlineMs * 0.75)];
  let planned: Promise<void> | null = null;
  let heardAtMs = 0;

  function heard(reply: Reply): Reply {
    heardAtMs = performance.now();
    return reply;
  }

  function noteRefusal(error: unknown): void {
    if (!(error instanceof ErrorReply)) return;
    // It is a sign of life too.
    heardAtMs = performance.now();
    options.onRefused?.(error);
  }

  function failed(error: unknown): never {
    noteRefusal(error);
    throw error;
  }

  /** Goes before a command, in the same write; if it is refused, so is the command. */
  function sendAsking(): void {
    client.sendCommand(["ASKING"]).catch(() => {});
  }

  function send(args: string[], asking: boolean): Promise<Reply> {
    if (asking) sendAsking();
    return client.sendCommand<Reply>(args, FLAT).then(heard, failed);
  }

  // Every command of the store passes here: one promise for what becomes of its answer.
  function exchange(args: string[], how: How): Promise<Reply> {
    const orAgain = async (error: unknown): Promise<Reply> => {
      noteRefusal(error);
      if (!isMissingFunction(error)) throw error;
      await load();
      return once(args, how);
    };
    if (how.copied) return once(args, how).catch(orAgain);
    if (how.asking) sendAsking();
    return client.sendCommand<Reply>(args, FLAT).then(heard, orAgain);
  }

  /** One WAIT for everything sent in this tick: it confirms all that went before it on its connection. */
  function copySoon(traces: readonly string[]): Promise<void> {
    planned ??= Promise.resolve().then(() => {
      planned = null;
      return copy(traces, false);
    });
    return planned;
  }

  /**
   * Since Redis 7.2, WAIT waits only for the latest write of its own connection. A trace is such a write, so WAIT
   * covers reads too. A slot that is moving away accepts no trace: then another slot's key is tried.
   */
  async function copy(traces: readonly string[], asking: boolean): Promise<void> {
    for (const trace of traces) {
      const [left, copies] = await Promise.allSettled([send(traceCall(trace), asking), send(wait, false)]);
      if (left.status === "rejected" && refusalIn(left.reason)) continue;
      if (left.status === "rejected") throw left.reason;
      if (copies.status === "rejected") throw copies.reason;
      if (Number(copies.value) < 1) throw new StoreUnavailable("acknowledge a change", { fact: UNCONFIRMED });
      return;
    }
    throw new StoreUnavailable("acknowledge a change", { fact: "its slot is moving" });
  }

  function once(args: string[], how: How): Promise<Reply> {
    const answer = send(args, how.asking);
    return how.copied ? whenCopied(answer, how) : answer;
  }

  async function whenCopied(answer: Promise<Reply>, { traces, asking }: How): Promise<Reply> {
    const copying = asking ? copy(traces, true) : copySoon(traces);
    // Both may fail, so each gets its handler at once.
    copying.catch(() => {});
    const reply = await answer;
    await copying;
    return reply;
  }

  async function load(): Promise<void> {
    try {
      await send(["FUNCTION", "LOAD", library], false);
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof ErrorReply && error.message.includes("already exists"))) throw error;
    }
  }

  return {
    connected,

    get isReady() {
      return client.isReady;
    },

    exchange,

    order: (...args) => send(args, false),

    isSilentSince: (thenMs) => heardAtMs < thenMs,

    close: () => client.destroy(),
  };
}
