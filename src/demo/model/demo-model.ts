import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { ModelMessage, OfferedTool } from "../../model.ts";
import { decide } from "./decide.ts";
import type { DemoTurn } from "./decide.ts";

/**
 * The demo model: a small OpenAI-compatible server in this process, for a start without a key. The service calls it with
 * the same client as a real one. It listens on loopback, on any free port.
 */
export interface DemoModel {
  baseUrl: string;
  /** The address of a server that is always overloaded, so that a chain falls over. */
  busyUrl: string;
  close(): Promise<void>;
}

/** A pause after each word, so that streaming is visible; all pauses together take at most WHOLE_ANSWER_MS. */
const PER_WORD_MS = 25;
const WHOLE_ANSWER_MS = 1_000;
/** The thought before an answer, split inside the tags to test the filter. */
const THOUGHT = ["<th", "ink>The rules", " have an answer to this.</thi", "nk>\n\n"];
const BUSY = "/busy/v1";
const MAX_BODY_BYTES = 16_777_216;

const WireCall = z.object({
  id: z.string(),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
const WirePart = z.object({
  text: z.string().optional(),
  image_url: z.object({ url: z.string() }).optional(),
});
const WireMessage = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(WirePart)]).nullish(),
  tool_call_id: z.string().nullish(),
  tool_calls: z.array(WireCall).nullish(),
});
const WireTool = z.object({
  function: z.object({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
  }),
});
const WireRequest = z.object({ messages: z.array(WireMessage), tools: z.array(WireTool).optional() });

export async function startDemoModel(): Promise<DemoModel> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen({ port: 0, host: "127.0.0.1", exclusive: true });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("Cannot start the demo model: no port");
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    baseUrl: `${origin}/v1`,
    busyUrl: `${origin}${BUSY}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await readBody(request);
  if (request.url === `${BUSY}/chat/completions`) {
    response.writeHead(503, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "This model is always overloaded" } }));
    return;
  }
  const parsed = WireRequest.safeParse(parseJson(text));
  if (request.url !== "/v1/chat/completions" || !parsed.success) {
    response.writeHead(parsed.success ? 404 : 400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "Not a chat completion" } }));
    return;
  }
  const { messages, tools = [] } = parsed.data;
  const turn = decide(messages.map(ownMessage), tools.map(ownTool));
  await stream(turn, text.length, response);
}

async function stream(turn: DemoTurn, askedChars: number, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (turn.type === "text") {
    // As open models do; no reader sees it (models/reply/thoughts.ts).
    for (const part of THOUGHT) response.write(event({ choices: [choice({ content: part })] }));
    const words = turn.text.split(/(?<= )/);
    for (const word of words) {
      if (response.destroyed) return;
      response.write(event({ choices: [choice({ content: word })] }));
      await pause(Math.min(PER_WORD_MS, WHOLE_ANSWER_MS / words.length));
    }
  } else {
    const { name, arguments: args } = turn;
    const call = { index: 0, id: `call_${crypto.randomUUID()}`, type: "function" };
    response.write(
      event({
        choices: [choice({ tool_calls: [{ ...call, function: { name, arguments: JSON.stringify(args) } }] })],
      }),
    );
  }
  response.write(event({ choices: [choice({}, turn.type === "text" ? "stop" : "tool_calls")] }));
  const answeredChars = turn.type === "text" ? turn.text.length : JSON.stringify(turn.arguments).length;
  response.write(event({ choices: [], usage: usage(askedChars, answeredChars) }));
  response.end("data: [DONE]\n\n");
}

function event(fields: object): string {
  const head = { id: "chatcmpl-demo", object: "chat.completion.chunk", created: 0, model: "demo" };
  return `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
}

function choice(delta: object, finishReason: string | null = null): object {
  return { index: 0, delta, finish_reason: finishReason };
}

/** A token has about four characters. */
function usage(askedChars: number, answeredChars: number): object {
  const [asked, answered] = [Math.ceil(askedChars / 4), Math.ceil(answeredChars / 4)];
  return { prompt_tokens: asked, completion_tokens: answered, total_tokens: asked + answered };
}

function ownMessage(message: z.infer<typeof WireMessage>): ModelMessage {
  const parts = typeof message.content === "string" ? [{ text: message.content }] : (message.content ?? []);
  const content = parts.map(({ text = "" }) => text).join("");
  switch (message.role) {
    case "user": {
      const images = parts.flatMap((part) =>
        "image_url" in part && part.image_url ? [{ label: "image", url: part.image_url.url }] : [],
      );
      return { role: "user", content, ...(images.length > 0 ? { images } : {}) };
    }
    case "tool":
      return { role: "tool", callId: message.tool_call_id ?? "", content };
    case "assistant": {
      const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
        callId: id,
        name,
        arguments: args,
      }));
      return { role: "assistant", content, calls };
    }
    default:
      return { role: "system", content };
  }
}

function ownTool({
  function: { name, description = "", parameters = {} },
}: z.infer<typeof WireTool>): OfferedTool {
  return { name, description, parameters };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    parts.push(part);
    length += part.length;
    if (length > MAX_BODY_BYTES) throw new Error("Cannot answer: the request is too long");
  }
  return Buffer.concat(parts).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
