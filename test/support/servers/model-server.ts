/**
 * A scripted OpenAI-compatible server on loopback: the project's double for a model. The real client speaks to it, so
 * only the far end is played. A turn is a list of acts, read from left to right; without a script the server echoes
 * what the user said.
 *
 *     const server = await startModelServer([[say("Hel"), hold(), say("lo")], [status(500)], "Fine again"]);
 *     const server = await startModelServer((request, nth) => (nth === 0 ? [call("clock", {})] : "It is noon"));
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";

export type Act =
  /** One text delta. */
  | { type: "say"; text: string }
  /** A tool call, split in several deltas: id and name first, then the arguments in two halves. */
  | { type: "call"; name: string; arguments: string; id: string | null }
  /** What the last chunk tells; null: no usage. */
  | { type: "usage"; usage: { input: number; output: number } | null }
  /** Bytes as they are, past all format. */
  | { type: "bytes"; bytes: string | Uint8Array }
  | { type: "wait"; ms: number }
  /** Waits until the test releases it. */
  | { type: "hold" }
  /** Says nothing more, and leaves the connection open. */
  | { type: "hang" }
  /** Ends the body in good form, before the answer is finished. */
  | { type: "cut" }
  /** Tears the connection down. */
  | { type: "reset" }
  /** Instead of an answer. */
  | { type: "status"; status: number; headers: Record<string, string>; body: string };

/** A text is said in a few chunks. A list that ends without cut, reset or hang is followed by finish_reason, usage and [DONE]. */
export type ScriptedTurn = string | Iterable<Act>;
export type Script = readonly ScriptedTurn[] | ((request: ModelServerRequest, nth: number) => ScriptedTurn);

export const say = (text: string): Act => ({ type: "say", text });
/** Arguments as text are sent as they are: they need not parse. */
export const call = (name: string, args: unknown = {}, id: string | null = null): Act => ({
  type: "call",
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
  id,
});
export const usage = (input: number, output: number): Act => ({ type: "usage", usage: { input, output } });
export const noUsage = (): Act => ({ type: "usage", usage: null });
export const bytes = (raw: string | Uint8Array): Act => ({ type: "bytes", bytes: raw });
export const wait = (ms: number): Act => ({ type: "wait", ms });
export const hold = (): Act => ({ type: "hold" });
export const hang = (): Act => ({ type: "hang" });
export const cut = (): Act => ({ type: "cut" });
export const reset = (): Act => ({ type: "reset" });
export const status = (code: number, headers: Record<string, string> = {}, body?: string): Act => ({
  type: "status",
  status: code,
  headers,
  body: body ?? JSON.stringify({ error: { message: `status ${code}`, type: "scripted" } }),
});
/** The same text for ever. */
export function* endlessly(text: string): Iterable<Act> {
  for (;;) yield say(text);
}

export interface ModelServerRequest {
  body: ChatCompletionCreateParamsStreaming;
  headers: IncomingHttpHeaders;
  path: string;
  /** Resolves when the connection closed before the answer was over. */
  left: Promise<void>;
}

export interface ModelServer {
  /** Ends in `/v1`. */
  baseUrl: string;
  /** Every request so far, oldest first: as many as the model was called. */
  requests: ModelServerRequest[];
  /** Connections so far: fewer than the requests where they were used again. */
  connections(): number;
  /** Appends turns to the queue. */
  enqueue(...turns: ScriptedTurn[]): void;
  /** Resolves when so many requests have come. */
  requested(count: number): Promise<void>;
  /** Resolves when a turn waits at a hold. */
  held(): Promise<void>;
  /** Lets holds pass: those that wait, or else the next ones. */
  release(count?: number): void;
  close(): Promise<void>;
}

/** The text that the user said last. */
export function lastUserText(request: ModelServerRequest): string {
  const said = request.body.messages.findLast((message) => message.role === "user")?.content;
  return typeof said === "string" ? said : "";
}

/** The base URL of a port where nobody listens. */
export async function unreachableBaseUrl(): Promise<string> {
  const server = await startModelServer();
  await server.close();
  return server.baseUrl;
}

export async function startModelServer(script: Script = []): Promise<ModelServer> {
  const queue = typeof script === "function" ? [] : [...script];
  const requests: ModelServerRequest[] = [];
  const holds = openHolds();
  const watchers = new Set<() => void>();
  let connections = 0;

  function nextTurn(request: ModelServerRequest): ScriptedTurn {
    if (typeof script === "function") return script(request, requests.length - 1);
    return queue.shift() ?? `You said: ${lastUserText(request)}`;
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming, response);
    requests.push(request);
    const turn = nextTurn(request);
    for (const watcher of watchers) watcher();
    await perform(turn, response, holds.pass);
  }

  const server = createServer((incoming, response) => {
    // A client that leaves in mid-answer is what many tests are about; its torn connection is no fault of the double.
    answer(incoming, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.on("connection", () => (connections += 1));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("Cannot start the model server: no port");

  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    requests,
    connections: () => connections,
    enqueue: (...turns) => void queue.push(...turns),
    requested: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (requests.length < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    held: holds.held,
    release: holds.release,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function record(incoming: IncomingMessage, response: ServerResponse): Promise<ModelServerRequest> {
  const left = new Promise<void>((resolve) => {
    response.once("close", () => {
      if (!response.writableFinished) resolve();
    });
  });
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  const body: ChatCompletionCreateParamsStreaming = JSON.parse(Buffer.concat(parts).toString());
  return { body, headers: incoming.headers, path: incoming.url ?? "", left };
}

/** Plays one turn into the response. */
async function perform(
  turn: ScriptedTurn,
  response: ServerResponse,
  passHold: () => Promise<void>,
): Promise<void> {
  let told: { input: number; output: number } | null = { input: 11, output: 7 };
  let calls = 0;

  const write = async (chunk: string | Uint8Array) => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    // Each chunk leaves in a packet of its own where the reader keeps up, and an endless turn gives others their turn.
    if (!response.write(chunk)) await once(response, "drain");
    await new Promise(setImmediate);
  };

  for (const act of typeof turn === "string" ? inChunks(turn) : turn) {
    if (response.destroyed) return;
    switch (act.type) {
      case "say":
        await write(event({ content: act.text }));
        break;
      case "call":
        for (const part of callDeltas(act, calls)) await write(event({ tool_calls: [part] }));
        calls += 1;
        break;
      case "usage":
        told = act.usage;
        break;
      case "bytes":
        await write(act.bytes);
        break;
      case "wait":
        await pause(act.ms);
        break;
      case "hold":
        await passHold();
        break;
      case "hang":
        return;
      case "cut":
        response.end();
        return;
      case "reset":
        response.socket?.resetAndDestroy();
        return;
      case "status":
        response.writeHead(act.status, { "content-type": "application/json", ...act.headers }).end(act.body);
        return;
    }
  }
  await write(event({}, calls > 0 ? "tool_calls" : "stop"));
  if (told) await write(usageEvent(told));
  response.end("data: [DONE]\n\n");
}

function* inChunks(text: string): Iterable<Act> {
  for (const word of text.split(/(?<= )/)) yield say(word);
}

function event(delta: object, finishReason: string | null = null): string {
  return sse({ choices: [{ index: 0, delta, finish_reason: finishReason }], usage: null });
}

function usageEvent(told: { input: number; output: number }): string {
  const { input, output } = told;
  return sse({
    choices: [],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });
}

function sse(chunk: object): string {
  const head = { id: "chatcmpl-scripted", object: "chat.completion.chunk", created: 0, model: "scripted" };
  return `data: ${JSON.stringify({ ...head, ...chunk })}\n\n`;
}

function callDeltas(act: Extract<Act, { type: "call" }>, index: number): object[] {
  const half = Math.ceil(act.arguments.length / 2);
  return [
    {
      index,
      id: act.id ?? `call_${index}_${Math.random().toString(36).slice(2)}`,
      type: "function",
      function: { name: act.name, arguments: "" },
    },
    { index, function: { arguments: act.arguments.slice(0, half) } },
    { index, function: { arguments: act.arguments.slice(half) } },
  ];
}

/** Holds and releases, counted: a release that comes before its hold is not lost. */
export function openHolds() {
  const waiting: (() => void)[] = [];
  const watchers: (() => void)[] = [];
  let released = 0;
  return {
    pass: () =>
      new Promise<void>((resolve) => {
        if (released > 0) {
          released -= 1;
          resolve();
          return;
        }
        waiting.push(resolve);
        for (const watcher of watchers.splice(0)) watcher();
      }),
    held: () =>
      new Promise<void>((resolve) => {
        if (waiting.length > 0) resolve();
        else watchers.push(resolve);
      }),
    release: (count = 1) => {
      for (let n = 0; n < count; n += 1) {
        const next = waiting.shift();
        if (next) next();
        else released += 1;
      }
    },
  };
}
