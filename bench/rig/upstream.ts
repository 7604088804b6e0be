import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { lastNonce, restChunks } from "./reply.ts";

/**
 * The benchmark's model: an OpenAI-compatible server, in a process of its own, that costs about 0.03 ms a message, so
 * that its client is measured. 20 events of about 85 bytes, at once in one write, or spaced.
 *
 * By hand on node:net, only because it costs less; tests have a better model server (test/support/servers/model-server.ts). It takes
 * requests with a Content-Length, one at a time on a connection, and answers every path in the same way.
 */
export interface Pace {
  /** The pause between two chunks, and before the first; 0: all at once. */
  everyMs: number;
  /** True: the first chunk, and then nothing until the connection closes. */
  holds: boolean;
}

const HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nkeep-alive: timeout=60\r\ntransfer-encoding: chunked\r\n\r\n";
const HEAD_END = "\r\n\r\n";

const restEvents = restChunks.map((text) => chunk(delta(text)));
const END = `${chunk(finish())}${chunk(usage())}${chunk("data: [DONE]\n\n")}0\r\n\r\n`;
const REST = restEvents.join("") + END;

/** The first chunk has the role, as real models send it: some clients misread the reply without it. */
function first(text: string): string {
  return event({ choices: [{ index: 0, delta: { role: "assistant", content: text }, finish_reason: null }] });
}

function delta(text: string): string {
  return event({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] });
}

function finish(): string {
  return event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
}

function usage(): string {
  return event({ choices: [], usage: { prompt_tokens: 120, completion_tokens: 21, total_tokens: 141 } });
}

function event(value: object): string {
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...value })}\n\n`;
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

let pace: Pace = { everyMs: 0, holds: false };

function answer(socket: Socket, body: string): void {
  const beginning = HEAD + chunk(first(lastNonce(body)));
  const { everyMs, holds } = pace;
  if (holds) {
    socket.write(beginning);
    return;
  }
  if (everyMs === 0) {
    socket.write(beginning + REST);
    return;
  }
  let told = -1;
  const timer = setInterval(() => {
    const text = told < 0 ? beginning : (restEvents[told] ?? "");
    told += 1;
    const isLast = told === restEvents.length;
    if (isLast || socket.destroyed) clearInterval(timer);
    if (!socket.destroyed) socket.write(isLast ? text + END : text);
  }, everyMs);
}

/** Collects one request after another, and answers each when it is complete. */
function serve(socket: Socket): void {
  let received = "";
  let wanted = -1;
  let bodyAt = 0;
  socket.setNoDelay(true);
  // One byte is one character, so that lengths match Content-Length.
  socket.setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.on("data", (text: string) => {
    received += text;
    if (wanted < 0) {
      const headEnd = received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const length = /\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd + 2))?.[1];
      if (length === undefined) {
        socket.end("HTTP/1.1 411 Length Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return;
      }
      bodyAt = headEnd + HEAD_END.length;
      wanted = bodyAt + Number(length);
    }
    if (received.length < wanted) return;
    const body = received.slice(bodyAt, wanted);
    received = "";
    wanted = -1;
    answer(socket, body);
  });
}

const server = createServer(serve);
server.listen({ port: 0, host: "127.0.0.1", backlog: 16_384 }, () => {
  process.on("message", (next: Pace) => {
    pace = next;
    process.send?.("paced");
  });
  process.on("disconnect", () => process.exit(0));
  process.send?.({ port: (server.address() as AddressInfo).port });
});
