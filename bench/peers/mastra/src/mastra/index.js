// As in Mastra's documentation: an agent that remembers its threads, in a LibSQL database.
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";

const { DATA_DIR, OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;

const bench = new Agent({
  id: "bench",
  name: "bench",
  instructions: "You are a helpful assistant in a chat. Answer briefly, in the language of the visitor.",
  model: { id: "bench/bench", url: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY },
  memory: new Memory({ options: { lastMessages: 20 } }),
});

export const mastra = new Mastra({
  agents: { bench },
  storage: new LibSQLStore({ id: "bench", url: `file:${DATA_DIR}/mastra.db` }),
});
