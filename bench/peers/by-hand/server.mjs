/**
 * The chat by hand, as a good engineer would write it in an afternoon: node:http, fetch and ioredis. A thread is a list
 * in Redis; the message is in it before the model is called, and the reply before the `done` line is sent.
 */
import { createServer } from "node:http";
import { Redis } from "ioredis";

const { REDIS_URL, OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
const INSTRUCTIONS = "You are a helpful assistant in a chat. Answer briefly, in the language of the visitor.";
/** The model gets this many of a thread's messages. */
const HISTORY = 20;

const redis = new Redis(REDIS_URL);

const server = createServer((request, response) => {
  chat(request, response).catch((error) => {
    console.error(error);
    if (response.headersSent) response.end(line({ type: "error", message: "Something went wrong" }));
    else response.writeHead(500).end();
  });
});

async function chat(request, response) {
  if (request.method !== "POST" || request.url !== "/chat") return response.writeHead(404).end();
  const said = readMessage(await bodyOf(request));
  if (said === null) return response.writeHead(422).end();

  const key = `thread:${said.threadId}`;
  const past = await redis.lrange(key, -HISTORY, -1);
  const message = { role: "user", content: said.text };
  await redis.rpush(key, JSON.stringify(message));

  const answer = await askModel([...past.map((item) => JSON.parse(item)), message]);
  response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
  const decoder = new TextDecoder();
  let rest = "";
  let reply = "";
  for await (const bytes of answer.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop();
    for (const event of lines) {
      if (!event.startsWith("data: {")) continue;
      const text = JSON.parse(event.slice(6)).choices[0]?.delta.content;
      if (!text) continue;
      reply += text;
      response.write(line({ type: "delta", text }));
    }
  }
  await redis.rpush(key, JSON.stringify({ role: "assistant", content: reply }));
  response.end(line({ type: "done" }));
}

async function bodyOf(request) {
  request.setEncoding("utf8");
  let body = "";
  for await (const part of request) body += part;
  return body;
}

/** null: it is not a message. */
function readMessage(body) {
  try {
    const { threadId, text } = JSON.parse(body);
    return typeof threadId === "string" && typeof text === "string" && text !== ""
      ? { threadId, text }
      : null;
  } catch {
    return null;
  }
}

async function askModel(messages) {
  const answer = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({
      model: "bench",
      stream: true,
      messages: [{ role: "system", content: INSTRUCTIONS }, ...messages],
    }),
  });
  if (!answer.ok) throw new Error(`Cannot ask the model: status ${answer.status}`);
  return answer;
}

function line(value) {
  return `${JSON.stringify(value)}\n`;
}

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
