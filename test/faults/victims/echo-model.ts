import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/**
 * An OpenAI-compatible model whose answers follow from what it is asked, whoever asks and however often: so a turn
 * that is repeated after a death says the same again. It keeps no request, and is fast enough for long runs.
 *
 * `Buy it #calls cart,cart` calls these tools in one turn, and answers when it has their results; everything else is
 * answered with `replyTo` at once. What ends with `#refused` is answered with 400. `#kilobytes 8000` is answered with as
 * much text. A text that is held is answered when it is released, after its first words.
 */
export interface EchoModel {
  baseUrl: string;
  /** Turns asked for so far. */
  readonly turns: number;
  /** Answers to this text stop in the middle until they are released. */
  hold(text: string): void;
  release(text: string): void;
  /** From now on every answer pauses so long in its middle. */
  pace(pauseMs: number): void;
  /** Resolves when a turn that answers the text is held. */
  held(text: string): Promise<void>;
  close(): Promise<void>;
}

/** What the model says to a text, in two deltas. */
export function replyTo(text: string): string {
  return FIRST_WORDS + text;
}

const BLOCK = `${"x".repeat(15_999)}\n`;
const FIRST_WORDS = "You said: ";

interface Said {
  role: string;
  content: string | null;
}

interface Hold {
  released: Promise<void>;
  release: () => void;
  /** Told when a turn waits here. */
  reached: Promise<void>;
  reach: () => void;
}

export async function startEchoModel(): Promise<EchoModel> {
  const holds = new Map<string, Hold>();
  let turns = 0;
  let paceMs = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { messages } = (await bodyOf(request)) as { messages: Said[] };
    turns += 1;
    const asked = messages.findLastIndex(({ role }) => role === "user");
    const text = messages[asked]?.content ?? "";
    const tools = toolsIn(text);
    const hasResults = messages.slice(asked).some(({ role }) => role === "tool") || areAllTold(messages);

    if (text.endsWith("#refused")) {
      response.writeHead(400).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (tools.length > 0 && !hasResults) {
      response.end(chunk({ tool_calls: tools.map(toolCall) }) + lastChunks("tool_calls"));
      return;
    }
    const hold = holds.get(text);
    const kilobytes = Number(/#kilobytes (\d+)/.exec(text)?.[1] ?? 0);
    if (!hold && paceMs === 0 && kilobytes === 0) {
      response.end(chunk({ content: FIRST_WORDS }) + chunk({ content: text }) + lastChunks("stop"));
      return;
    }
    response.write(chunk({ content: FIRST_WORDS }));
    hold?.reach();
    await hold?.released;
    if (paceMs > 0) await pause(paceMs);
    for (let said = 0; said < kilobytes && !response.destroyed; said += BLOCK.length / 1_000) {
      if (!response.write(chunk({ content: BLOCK }))) await once(response, "drain");
    }
    response.end(chunk({ content: text }) + lastChunks("stop"));
  }

  const server = createServer((request, response) => {
    // Whoever asked may have died meanwhile.
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get turns() {
      return turns;
    },
    pace: (pauseMs) => void (paceMs = pauseMs),
    hold: (text) => void holds.set(text, openHold()),
    release(text) {
      holds.get(text)?.release();
      holds.delete(text);
    },
    held: (text) => holds.get(text)?.reached ?? Promise.resolve(),
    async close() {
      for (const { release } of holds.values()) release();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function toolsIn(text: string): string[] {
  return [...text.matchAll(/#calls (\S+)/g)].flatMap(([, names = ""]) => names.split(","));
}

/** Calls of before an upgrade come back in words (src/models/request/told-calls.ts): as many results as calls were asked for. */
function areAllTold(messages: readonly Said[]): boolean {
  const told = /<earlier_calls>\n(.*)\n<\/earlier_calls>/.exec(messages[0]?.content ?? "")?.[1];
  if (told === undefined) return false;
  const inWords = (JSON.parse(told) as { result: string | null }[]).filter(({ result }) => result !== null);
  const results = inWords.length + messages.filter(({ role }) => role === "tool").length;
  const asked = messages.flatMap(({ role, content }) => (role === "user" ? toolsIn(content ?? "") : []));
  return results >= asked.length;
}

function openHold(): Hold {
  let release = () => {};
  let reach = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return { released, release, reached, reach };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

function toolCall(name: string, index: number): object {
  return { index, id: `call_${index}`, type: "function", function: { name, arguments: "{}" } };
}

function chunk(delta: object, finishReason: string | null = null): string {
  return sse({ choices: [{ index: 0, delta, finish_reason: finishReason }], usage: null });
}

function lastChunks(reason: string): string {
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  return `${chunk({}, reason)}${sse({ choices: [], usage })}data: [DONE]\n\n`;
}

function sse(part: object): string {
  const head = { id: "echo", object: "chat.completion.chunk", created: 0, model: "echo" };
  return `data: ${JSON.stringify({ ...head, ...part })}\n\n`;
}
