// The least that does the job: node:http, fetch and Redis, no framework. No users, no checks, no limits, no recovery.
import { createServer } from "node:http";
import { Redis } from "ioredis";

const redis = new Redis(process.env.REDIS_URL);
const url = `${process.env.OPENAI_BASE_URL}/chat/completions`;

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { threadId, text } = JSON.parse(body);
  const key = `thread:${threadId}`;
  const past = (await redis.lrange(key, -10, -1)).map((item) => JSON.parse(item));
  const said = { role: "user", content: text };
  await redis.rpush(key, JSON.stringify(said));

  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, messages: [...past, said] }),
  });
  response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
  const decoder = new TextDecoder();
  let rest = "";
  let reply = "";
  for await (const bytes of answer.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta.content;
      if (!delta) continue;
      reply += delta;
      response.write(delta);
    }
  }
  await redis.rpush(key, JSON.stringify({ role: "assistant", content: reply }));
  response.end();
});

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
