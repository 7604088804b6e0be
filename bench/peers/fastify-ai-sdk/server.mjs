// What many would write today: Fastify, the AI SDK and Redis.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { pipeUIMessageStreamToResponse, streamText, toUIMessageStream } from "ai";
import { fastify } from "fastify";
import { Redis } from "ioredis";

const redis = new Redis(process.env.REDIS_URL);
const provider = createOpenAICompatible({ name: "bench", baseURL: process.env.OPENAI_BASE_URL });
const INSTRUCTIONS = "You are a helpful assistant in a chat. Answer briefly, in the language of the visitor.";
/** The model gets this many of a thread's messages. */
const HISTORY = 20;
const app = fastify();

const schema = {
  body: {
    type: "object",
    required: ["threadId", "text"],
    properties: { threadId: { type: "string" }, text: { type: "string", minLength: 1 } },
  },
};

app.post("/chat", { schema }, async (request, reply) => {
  const { threadId, text } = request.body;
  const key = `thread:${threadId}`;
  const past = (await redis.lrange(key, -HISTORY, -1)).map((item) => JSON.parse(item));
  const said = { role: "user", content: text };
  await redis.rpush(key, JSON.stringify(said));

  const result = streamText({
    model: provider.chatModel("bench"),
    instructions: INSTRUCTIONS,
    messages: [...past, said],
    onEnd: ({ text: content }) => redis.rpush(key, JSON.stringify({ role: "assistant", content })),
  });
  reply.hijack();
  await pipeUIMessageStreamToResponse({
    response: reply.raw,
    stream: toUIMessageStream({ stream: result.stream }),
  });
});

await app.listen({ port: 0, host: "127.0.0.1" });
console.log(JSON.stringify({ url: `http://127.0.0.1:${app.server.address().port}` }));
