/**
 * A chat as in Restate's documentation: a virtual object for each thread, which handles its messages in turn and has them as
 * its state. Text is streamed through Restate's own pub/sub, with a topic for each reply.
 */
import { createPubsubPublisher } from "@restatedev/pubsub";
import * as restate from "@restatedev/restate-sdk";

const INSTRUCTIONS = "You are a helpful assistant in a chat. Answer briefly, in the language of the visitor.";
/** The model gets this many of a thread's messages. */
const HISTORY = 20;

const publishDurably = createPubsubPublisher("pubsub");

/** `pubsub` publishes while a step is still going on. */
export function createChat(pubsub) {
  return restate.object({
    name: "chat",
    handlers: {
      async say(ctx, { text, topic }) {
        const messages = [...((await ctx.get("messages")) ?? []), { role: "user", content: text }];
        const reply = await ctx.run("ask the model", () => streamReply(messages, topic));
        ctx.set("messages", [...messages, { role: "assistant", content: reply }]);
        publishDurably(ctx, topic, { type: "done" });
      },
    },
  });

  async function streamReply(messages, topic) {
    const answer = await askModel(messages);
    const decoder = new TextDecoder();
    let rest = "";
    let reply = "";
    let nth = 0;
    for await (const bytes of answer.body) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop();
      const text = lines
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "")
        .join("");
      if (text === "") continue;
      reply += text;
      // Text that arrives together is published together: each publication is a durable call.
      await pubsub.publish(topic, { type: "delta", text }, `${topic}-${nth++}`);
    }
    return reply;
  }
}

async function askModel(messages) {
  const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
  const answer = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({
      model: "bench",
      stream: true,
      messages: [{ role: "system", content: INSTRUCTIONS }, ...messages.slice(-HISTORY)],
    }),
  });
  if (!answer.ok) throw new Error(`Cannot ask the model: status ${answer.status}`);
  return answer;
}
