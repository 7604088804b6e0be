import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, createGzip } from "node:zlib";
import { isTerminal } from "../../machines/line.ts";
import type { ErrorLine, Line } from "../../machines/line.ts";
import { loadWidgetScript, widgetScriptAnswer } from "../../src/http/widget-script.ts";

/**
 * The widget API with replies by script, for what the real service cannot be made to show: streams cut in the middle,
 * and every status. What a visitor says chooses the script; each tool result goes on to its next stream.
 */
export type Cue = Line | Gate | Break;

/** Ends the open streams, and the run goes on: `cut` breaks the connection, `move` says that it went elsewhere. */
interface Break {
  type: "cut" | "move";
}

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
  query: string;
  body: Record<string, unknown>;
  token: string | null;
}

interface Kept {
  id: string;
  role: string;
  content: string;
  createdAt: number;
  clientMessageId?: string;
  attachments?: unknown;
  files?: unknown;
  steps?: unknown[];
  sources?: unknown[];
  error?: Omit<ErrorLine, "type">;
  feedback?: { rating: unknown; comment?: unknown };
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
  files: Map<string, { about: object; bytes: Buffer }>;
  createdAt: number;
  history: Kept[];
  /** What its feeds tell: `line` with each line, `over` where they end. */
  told: EventEmitter;
  state: object;
  /** The active or last one comes last. */
  runs: Run[];
}

interface Run {
  id: string;
  clientMessageId: string | null;
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
  /** What to answer next, by path, or by path and tool or text: `/tool-results search`, `/messages Hello`. */
  refusals: Map<string, Refusal[]>;
  /**
   * Messages, by their text, whose requests end without an answer for as long as they are in here: before the service
   * has taken the message, or after.
   */
  losing: Map<string, "before" | "after">;
  /** Texts whose runs have no name in their streams, as behind a proxy that removes the header. */
  unnamed: Set<string>;
  /** Keys of channels that do not have the page's origin among theirs. */
  foreign: Set<string>;
  /** Messages of the visitors whose text is this, as often as they were said. */
  said(text: string): Kept[];
  /** Adds to a thread as if it had been said elsewhere. */
  addHistory(threadId: string, role: "user" | "assistant", ...contents: string[]): void;
  /** A line in the feeds of a thread. */
  tell(threadId: string, line: object): void;
  /** A conversation of the visitor with this token. */
  addThread(token: string, said: string): void;
  /** The first one is the account's to which the other one belongs. */
  identify(token: string, other: string): void;
  /** Another token in the place of this one, which is unknown from now on. */
  rotate(token: string): string;
  deleteThread(threadId: string): void;
  endFeeds(): void;
  expireTokens(): void;
  forgetThreads(): void;
  close(): Promise<void>;
}

const INTERRUPTED: Line = { type: "error", code: "interrupted", message: "The run goes on elsewhere" };

export async function startScriptedService(): Promise<ScriptedService> {
  const tokens = new Set<string>();
  const threads = new Map<string, Thread>();
  const accounts = new Map<string, string>();
  const accountOf = (token: string): string => accounts.get(token) ?? token;
  const asked: Asked[] = [];
  const scripts = new Map<string, Cue[][]>();
  const refusals = new Map<string, Refusal[]>();
  const losing = new Map<string, "before" | "after">();
  const unnamed = new Set<string>();
  const foreign = new Set<string>();
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
    response.setHeader("access-control-expose-headers", "retry-after, x-run-id");
    if (request.method === "OPTIONS") {
      response.writeHead(204, {
        "access-control-allow-methods": "GET, POST, OPTIONS",
        "access-control-allow-headers": "content-type, x-visitor-token, x-publishable-key",
        "access-control-max-age": "600",
      });
      return void response.end();
    }
    if (url.pathname === "/widget/v1/channel") {
      const key = url.searchParams.get("key") ?? "";
      const maxBodyBytes = key === "pk_roomy" ? 8_388_608 : 131_072;
      const takesImages = ["pk_images", "pk_roomy"].includes(key);
      return json(response, 200, {
        maxBodyBytes,
        ...(takesImages ? { images: true } : {}),
        ...(key === "pk_files" ? { fileBytes: 100_000 } : {}),
        ...(key === "pk_people" ? { handoff: true } : {}),
        // A Monday, nine o'clock in Berlin.
        ...(key === "pk_away" ? { peopleAgainAt: Date.parse("2026-11-30T08:00:00Z") } : {}),
        ...(foreign.has(key) ? { originAllowed: false } : {}),
      });
    }
    const isFile = /\/files(?:\/\w+)?$/.test(url.pathname);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const text = isFile ? "" : String(bytes);
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    const path = url.pathname.replace("/v1/widget", "");
    const token = headers.get("x-visitor-token") ?? null;
    asked.push({ method: request.method ?? "", path, query: url.search, body, token });
    const keys = [path, `${path} ${String(body["tool"])}`, `${path} ${String(body["text"])}`];
    const refusal = keys
      .map((key) => refusals.get(key))
      .find((some) => some !== undefined)
      ?.shift();
    if (refusal !== undefined) {
      if (refusal.ended !== undefined)
        threads.get(String(body["threadId"]))?.runs.at(-1)?.log.splice(-1, 1, refusal.ended);
      const retry = refusal.retryAfter === undefined ? {} : { "retry-after": String(refusal.retryAfter) };
      return void response.writeHead(refusal.status, retry).end();
    }
    if (path === "/visitors") {
      const key = headers.get("x-publishable-key");
      if (foreign.has(key ?? "")) {
        // As the service does: a page of another origin cannot even read the status.
        response.removeHeader("access-control-allow-origin");
        return void response.writeHead(403).end();
      }
      if (key === "pk_unknown") return void response.writeHead(401).end();
      if (key === "pk_refused") return void response.writeHead(403).end();
      const visitorToken = randomBytes(16).toString("hex");
      tokens.add(visitorToken);
      return json(response, 201, { visitorToken, expiresAt: Date.now() + 86_400_000 });
    }
    if (token === null || !tokens.has(token)) return void response.writeHead(401).end();
    if (path === "/threads" && request.method === "GET")
      return list(response, accountOf(token), url.searchParams);
    if (path === "/threads") return json(response, 201, { threadId: makeThread(accountOf(token)) });
    const id = /^\/threads\/(\w+)\//.exec(path)?.[1] ?? String(body["threadId"]);
    const thread = threads.get(id);
    if (thread?.owner !== accountOf(token)) return void response.writeHead(404).end();
    if (isFile)
      return takeOrAnswer(request, response, thread, {
        path,
        bytes,
        name: url.searchParams.get("name") ?? "",
      });
    if (path.endsWith("/messages") && request.method === "GET")
      return json(response, 200, { items: pageOf(thread.history, url.searchParams) });
    if (path.endsWith("/events")) return feed(request, response, thread, url.searchParams);
    if (path === "/tools") return void response.writeHead(204).end();
    if (path.endsWith("/handoffs")) return json(response, 200, { items: [] });
    if (path.endsWith("/handoff")) {
      turn(thread, { state: "waiting_for_person", waitingSince: Date.now() });
      return void response.writeHead(204).end();
    }
    if (path.endsWith("/feedback")) return rate(response, thread, body);
    if (path.endsWith("/cancel")) return cancel(response, thread);
    if (path.endsWith("/delete")) {
      deleteThread(id);
      return void response.writeHead(204).end();
    }
    if (path.endsWith("/stream")) {
      const name = url.searchParams.get("run");
      const run = name === null ? thread.runs.at(-1) : thread.runs.find((one) => one.id === name);
      if (run === undefined) return void response.writeHead(name === null ? 204 : 404).end();
      return follow(request, response, run, 0);
    }
    if (path === "/messages") return message(request, response, thread, body);
    return toolResult(request, response, thread, String(body["callId"]));
  }

  /** As the service does: an active run's streams end first, then the feeds. */
  function deleteThread(threadId: string): void {
    const thread = threads.get(threadId);
    threads.delete(threadId);
    const run = thread?.runs.at(-1);
    const last = run?.log.at(-1)?.type;
    if (last !== "done" && last !== "error")
      run?.log.push({ type: "error", code: "deleted", message: "The thread was deleted" });
    run?.moved.emit("line");
    thread?.told.emit("line", { type: "deleted" });
    thread?.told.emit("over");
  }

  function makeThread(owner: string): string {
    const threadId = randomBytes(16).toString("hex");
    const told = new EventEmitter().setMaxListeners(50);
    const createdAt = Date.now();
    threads.set(threadId, {
      owner,
      files: new Map(),
      createdAt,
      history: [],
      told,
      state: { state: "idle" },
      runs: [],
    });
    return threadId;
  }

  function list(response: ServerResponse, token: string, query: URLSearchParams): void {
    const [limit, from] = [Number(query.get("limit") ?? 20), Number(query.get("cursor") ?? 0)];
    const own = [...threads]
      .filter(([, { owner }]) => owner === token)
      .map(([threadId, { createdAt, history }]) => {
        const updatedAt = history.at(-1)?.createdAt ?? createdAt;
        return { threadId, createdAt, updatedAt, state: "idle" };
      })
      .toSorted((one, other) => other.updatedAt - one.updatedAt);
    const next = from + limit < own.length ? String(from + limit) : null;
    json(response, 200, { items: own.slice(from, from + limit), next });
  }

  function feed(
    request: IncomingMessage,
    response: ServerResponse,
    thread: Thread,
    query: URLSearchParams,
  ): void {
    response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
    const write = (line: object) => void response.write(`${JSON.stringify(line)}\n`);
    const stop = () => thread.told.off("line", write).off("over", end);
    const end = () => (stop(), response.end());
    write({ type: "state", ...thread.state });
    const after = query.get("after");
    if (after !== null) {
      for (const item of thread.history.slice(Number(after))) write({ type: "message", item });
    }
    thread.told.on("line", write).on("over", end);
    request.on("close", stop);
  }

  /** As the service does: a file is taken if it begins as one that is taken, and answered as a download. */
  function takeOrAnswer(
    request: IncomingMessage,
    response: ServerResponse,
    thread: Thread,
    { path, bytes, name }: { path: string; bytes: Buffer; name: string },
  ): void {
    if (request.method === "GET") {
      const known = thread.files.get(path.split("/").at(-1) ?? "");
      return void response
        .writeHead(known ? 200 : 404, { "content-type": "application/pdf" })
        .end(known?.bytes);
    }
    if (!bytes.includes("%PDF-")) return void response.writeHead(422).end();
    const id = `file${thread.files.size + 1}`;
    const about = { id, name, type: "application/pdf", bytes: bytes.length };
    thread.files.set(id, { about, bytes });
    json(response, 201, about);
  }

  function rate(response: ServerResponse, thread: Thread, { messageId, ...feedback }: Asked["body"]): void {
    const rated = thread.history.find(({ id, role }) => id === messageId && role === "assistant");
    if (rated) rated.feedback = { rating: feedback["rating"], ...feedback };
    if (rated && feedback["rating"] === null) delete rated.feedback;
    response.writeHead(rated ? 204 : 404).end();
  }

  function message(
    request: IncomingMessage,
    response: ServerResponse,
    thread: Thread,
    body: Record<string, unknown>,
  ): void {
    const text = String(body["text"]);
    const clientMessageId = typeof body["clientMessageId"] === "string" ? body["clientMessageId"] : null;
    if (text.length > 2_000) return void response.writeHead(413).end();
    const lost = losing.get(text);
    if (lost === "before") return void response.destroy();
    const known = thread.runs.find(
      (run) => clientMessageId !== null && run.clientMessageId === clientMessageId,
    );
    if (known !== undefined && known.said !== text) return void response.writeHead(422).end();
    const run = known ?? begin(thread, text, clientMessageId, body);
    if (lost === "after") return void response.destroy();
    follow(request, response, run, 0);
  }

  function begin(
    thread: Thread,
    said: string,
    clientMessageId: string | null,
    { attachments, files }: Record<string, unknown>,
  ): Run {
    keep(thread, "user", said, {
      ...(clientMessageId === null ? {} : { clientMessageId }),
      ...(attachments === undefined ? {} : { attachments }),
      ...(Array.isArray(files) ? { files: files.map((id) => thread.files.get(String(id))?.about) } : {}),
    });
    const streams = scripts.get(said) ?? [reply(`You said: ${said}`)];
    const run = {
      id: randomBytes(8).toString("hex"),
      clientMessageId,
      said,
      streams,
      at: 0,
      log: [],
      streamFrom: 0,
      answered: null,
      moved: new EventEmitter(),
    };
    run.moved.setMaxListeners(50);
    thread.runs.push(run);
    turn(thread, { state: "running", runId: run.id });
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
      if (isBreak(cue)) {
        run.moved.emit(cue.type);
        continue;
      }
      // The reply is in the history before its terminal line is sent (contract, A process that dies mid-run).
      const spoken = run.log.flatMap((line) => (line.type === "delta" ? [line.text] : [])).join("");
      if (cue.type === "done") keep(thread, "assistant", spoken, stepsOf(run.log));
      if (cue.type === "error" && cue.code === "task_failed") {
        const { code, message } = cue;
        keep(thread, "assistant", spoken || message, { ...stepsOf(run.log), error: { code, message } });
      }
      run.log.push(cue);
      if (cue.type === "tool_call") turn(thread, { state: "awaiting", runId: run.id });
      if (cue.type === "done" || cue.type === "error") turn(thread, { state: "idle" });
      run.moved.emit("line");
    }
  }

  function cancel(response: ServerResponse, thread: Thread): void {
    const run = thread.runs.at(-1);
    run?.log.push({ type: "error", code: "cancelled", message: "The run was cancelled" });
    run?.moved.emit("line");
    turn(thread, { state: "idle" });
    response.writeHead(204).end();
  }

  function toolResult(
    request: IncomingMessage,
    response: ServerResponse,
    thread: Thread,
    callId: string,
  ): void {
    const run = thread.runs.at(-1);
    const pending = run?.log.at(-1);
    if (run !== undefined && pending?.type === "tool_call" && pending.callId === callId) {
      run.answered = callId;
      run.at += 1;
      run.log.pop();
      run.streamFrom = run.log.length;
      turn(thread, { state: "running", runId: run.id });
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
      ...(unnamed.has(run.said) ? {} : { "x-run-id": run.id }),
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
    const move = () => (stop(), gzip.end(`${JSON.stringify(INTERRUPTED)}\n`));
    const stop = () => (run.moved.off("line", write), run.moved.off("cut", cut), run.moved.off("move", move));
    run.moved.on("line", write);
    run.moved.on("cut", cut);
    run.moved.on("move", move);
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
    losing,
    unnamed,
    foreign,
    said: (text) =>
      [...threads.values()].flatMap(({ history }) =>
        history.filter(({ role, content }) => role === "user" && content === text),
      ),
    addHistory(threadId, role, ...contents) {
      const thread = threads.get(threadId);
      if (thread === undefined) throw new Error(`Cannot add to thread ${threadId}: there is none`);
      for (const content of contents) keep(thread, role, content);
    },
    tell(threadId, line) {
      for (const [id, thread] of threads) if (id === threadId) thread.told.emit("line", line);
    },
    addThread(token, said) {
      const thread = threads.get(makeThread(token));
      if (thread !== undefined) keep(thread, "user", said);
    },
    identify(token, other) {
      accounts.set(token, accountOf(other));
    },
    rotate(token) {
      const fresh = randomBytes(16).toString("hex");
      accounts.set(fresh, accountOf(token));
      tokens.add(fresh);
      tokens.delete(token);
      return fresh;
    },
    deleteThread,
    endFeeds: () => threads.forEach(({ told }) => told.emit("over")),
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

function isBreak(cue: Line | Break): cue is Break {
  return cue.type === "cut" || cue.type === "move";
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

function stepsOf(log: Line[]): Pick<Kept, "steps" | "sources"> {
  const all = log.flatMap((line) => (line.type === "step" ? [line] : []));
  const steps = new Map(all.map(({ sources: _, ...step }) => [step.id, step]));
  const sources = all.flatMap((step) => step.sources ?? []);
  return {
    ...(steps.size === 0 ? {} : { steps: [...steps.values()] }),
    ...(sources.length === 0 ? {} : { sources }),
  };
}

function turn(thread: Thread, state: object): void {
  thread.state = state;
  thread.told.emit("line", { type: "state", ...state });
}

function keep(
  { history, told }: Thread,
  role: string,
  content: string,
  more: Pick<Kept, "clientMessageId" | "attachments" | "steps" | "sources" | "error"> = {},
): void {
  const item = { id: String(history.length + 1), role, content, createdAt: Date.now(), ...more };
  history.push(item);
  told.emit("line", { type: "message", item });
}
