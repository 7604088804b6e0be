import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, createGzip } from "node:zlib";
import { isTerminal } from "../../machines/line.ts";
import type { Line } from "../../machines/line.ts";
import { loadWidgetScript, widgetScriptAnswer } from "../../src/http/widget-script.ts";

/**
 * The widget API with replies by script, for what the real service cannot be made to show: streams cut in the middle,
 * and every status. What a visitor says chooses the script; each tool result goes on to its next stream.
 */
export type Cue = Line | Gate | { type: "cut" };

/** A place in a reply where it waits until the test lets it go on. */
export interface Gate {
  type: "gate";
  /** Resolves when the reply waits here. */
  reached: Promise<void>;
  arrive(): void;
  opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let arrive = () => {};
  let open = () => {};
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { type: "gate", reached, arrive, opened, open };
}

export interface Asked {
  method: string;
  path: string;
  body: Record<string, unknown>;
  token: string | null;
}

interface Kept {
  id: string;
  role: string;
  content: string;
  createdAt: number;
  steps?: unknown[];
}

interface Refusal {
  status: number;
  /** Seconds. */
  retryAfter?: number;
  /** What the run has ended with meanwhile. */
  ended?: Line;
}

interface Thread {
  owner: string;
  history: Kept[];
  run: Run | null;
}

interface Run {
  said: string;
  streams: Cue[][];
  /** Which stream is open, or was last. */
  at: number;
  log: Line[];
  streamFrom: number;
  answered: string | null;
  moved: EventEmitter;
}

export interface ScriptedService {
  url: string;
  asked: Asked[];
  /** Streams by what is said. */
  scripts: Map<string, Cue[][]>;
  /** What to answer next, by path, or by path and tool: `/tool-results search`. */
  refusals: Map<string, Refusal[]>;
  /** Adds to a thread as if it had been said elsewhere. */
  addHistory(threadId: string, role: "user" | "assistant", ...contents: string[]): void;
  expireTokens(): void;
  forgetThreads(): void;
  close(): Promise<void>;
}

export async function startScriptedService(): Promise<ScriptedService> {
  const tokens = new Set<string>();
  const threads = new Map<string, Thread>();
  const asked: Asked[] = [];
  const scripts = new Map<string, Cue[][]>();
  const refusals = new Map<string, Refusal[]>();
  const script = await loadWidgetScript();

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      console.error(error);
      response.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://service");
    const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const file = widgetScriptAnswer(script, { path: url.pathname, headers });
    if (file !== null) return void response.writeHead(file.status, file.headers).end(file.body);
    if (request.headers.origin === undefined) return void response.writeHead(403).end();
    response.setHeader("access-control-allow-origin", request.headers.origin);
    response.setHeader("vary", "Origin");
    response.setHeader("access-control-expose-headers", "retry-after");
    if (request.method === "OPTIONS") {
      response.writeHead(204, {
        "access-control-allow-methods": "GET, POST, OPTIONS",
        "access-control-allow-headers": "content-type, x-visitor-token, x-publishable-key",
        "access-control-max-age": "600",
      });
      return void response.end();
    }
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    const path = url.pathname.replace("/v1/widget", "");
    const token = headers.get("x-visitor-token") ?? null;
    asked.push({ method: request.method ?? "", path, body, token });
    const refusal = (refusals.get(path) ?? refusals.get(`${path} ${String(body["tool"])}`))?.shift();
    if (refusal !== undefined) {
      if (refusal.ended !== undefined)
        threads.get(String(body["threadId"]))?.run?.log.splice(-1, 1, refusal.ended);
      const retry = refusal.retryAfter === undefined ? {} : { "retry-after": String(refusal.retryAfter) };
      return void response.writeHead(refusal.status, retry).end();
    }
    if (path === "/visitors") {
      const key = headers.get("x-publishable-key");
      if (key === "pk_unknown") return void response.writeHead(401).end();
      if (key === "pk_refused") return void response.writeHead(403).end();
      const visitorToken = randomBytes(16).toString("hex");
      tokens.add(visitorToken);
      return json(response, 201, { visitorToken, expiresAt: Date.now() + 86_400_000 });
    }
    if (token === null || !tokens.has(token)) return void response.writeHead(401).end();
    if (path === "/threads") {
      const threadId = randomBytes(16).toString("hex");
      threads.set(threadId, { owner: token, history: [], run: null });
      return json(response, 201, { threadId });
    }
    const id = /^\/threads\/(\w+)\//.exec(path)?.[1] ?? String(body["threadId"]);
    const thread = threads.get(id);
    if (thread?.owner !== token) return void response.writeHead(404).end();
    if (path.endsWith("/messages") && request.method === "GET")
      return json(response, 200, { items: pageOf(thread.history, url.searchParams) });
    if (path === "/tools") return void response.writeHead(204).end();
    if (path.endsWith("/cancel")) return cancel(response, thread);
    if (path.endsWith("/stream")) {
      if (thread.run === null) return void response.writeHead(204).end();
      return follow(request, response, thread.run, 0);
    }
    if (path === "/messages") {
      if (String(body["text"]).length > 2_000) return void response.writeHead(413).end();
      thread.run = begin(thread, String(body["text"]));
      return follow(request, response, thread.run, 0);
    }
    return toolResult(request, response, thread, String(body["callId"]));
  }

  function begin(thread: Thread, said: string): Run {
    keep(thread, "user", said);
    const streams = scripts.get(said) ?? [reply(`You said: ${said}`)];
    const run = {
      said,
      streams,
      at: 0,
      log: [],
      streamFrom: 0,
      answered: null,
      moved: new EventEmitter(),
    };
    run.moved.setMaxListeners(50);
    void play(thread, run);
    return run;
  }

  async function play(thread: Thread, run: Run): Promise<void> {
    for (const cue of run.streams[run.at] ?? []) {
      if (cue.type === "gate") {
        cue.arrive();
        await cue.opened;
        continue;
      }
      // Each line in a chunk of its own, as a model says it.
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (run.log.some((line) => line.type === "done" || line.type === "error")) return;
      if (cue.type === "cut") {
        run.moved.emit("cut");
        continue;
      }
      // The reply is in the history before its terminal line is sent (contract, A process that dies mid-run).
      const spoken = run.log.flatMap((line) => (line.type === "delta" ? [line.text] : [])).join("");
      if (cue.type === "done") keep(thread, "assistant", spoken, stepsOf(run.log));
      run.log.push(cue);
      run.moved.emit("line");
    }
  }

  function cancel(response: ServerResponse, thread: Thread): void {
    thread.run?.log.push({ type: "error", code: "cancelled", message: "The run was cancelled" });
    thread.run?.moved.emit("line");
    response.writeHead(204).end();
  }

  function toolResult(
    request: IncomingMessage,
    response: ServerResponse,
    thread: Thread,
    callId: string,
  ): void {
    const { run } = thread;
    const pending = run?.log.at(-1);
    if (run !== null && pending?.type === "tool_call" && pending.callId === callId) {
      run.answered = callId;
      run.at += 1;
      run.log.pop();
      run.streamFrom = run.log.length;
      void play(thread, run);
    }
    // A repeat re-attaches to the stream that the first result opened; anything else is refused.
    if (run?.answered !== callId) return void response.writeHead(409).end();
    follow(request, response, run, run.streamFrom);
  }

  function follow(request: IncomingMessage, response: ServerResponse, run: Run, from: number): void {
    response.writeHead(200, {
      "content-type": "application/x-ndjson",
      "cache-control": "no-store, no-transform",
      "content-encoding": "gzip",
    });
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    gzip.pipe(response);
    response.flushHeaders();
    let next = from;
    const write = () => {
      for (; next < run.log.length; next += 1) {
        const line = run.log[next];
        if (line === undefined) return;
        gzip.write(`${JSON.stringify(line)}\n`);
        if (isTerminal(line)) {
          gzip.end();
          stop();
          return;
        }
      }
    };
    const cut = () => (stop(), response.destroy());
    const stop = () => (run.moved.off("line", write), run.moved.off("cut", cut));
    run.moved.on("line", write);
    run.moved.on("cut", cut);
    request.on("close", () => response.destroyed && stop());
    write();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("Cannot start the scripted service: no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    scripts,
    refusals,
    addHistory(threadId, role, ...contents) {
      const thread = threads.get(threadId);
      if (thread === undefined) throw new Error(`Cannot add to thread ${threadId}: there is none`);
      for (const content of contents) keep(thread, role, content);
    },
    expireTokens: () => tokens.clear(),
    forgetThreads: () => threads.clear(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** A whole reply, in a few chunks. */
export function reply(text: string): Cue[] {
  const chunks = text.match(/[\s\S]{1,12}/g) ?? [];
  return [...chunks.map((chunk): Line => ({ type: "delta", text: chunk })), { type: "done", elapsedMs: 5 }];
}

/** A call of a page tool, as the agent makes it. */
export function call(tool: string, args: Record<string, unknown> = {}): Cue[] {
  return [
    { type: "step", id: tool, phase: "running", text: `Using ${tool}` },
    { type: "tool_call", tool, arguments: args, callId: randomBytes(8).toString("hex") },
  ];
}

/** What a resumed stream begins with. */
export function called(tool: string): Cue {
  return { type: "step", id: tool, phase: "done", text: `Using ${tool}` };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** The newest `limit` messages before `before`, oldest first. */
function pageOf(history: Kept[], query: URLSearchParams): Kept[] {
  const end = query.has("before")
    ? history.findIndex(({ id }) => id === query.get("before"))
    : history.length;
  return history.slice(Math.max(0, end - Number(query.get("limit") ?? 10)), Math.max(0, end));
}

function stepsOf(log: Line[]): unknown[] {
  const steps = log.flatMap((line) => (line.type === "step" ? [[line.id, line] as const] : []));
  return [...new Map(steps).values()];
}

function keep(thread: Thread, role: string, content: string, steps: unknown[] = []): void {
  const id = String(thread.history.length + 1);
  thread.history.push({ id, role, content, createdAt: Date.now(), ...(steps.length === 0 ? {} : { steps }) });
}
