// As in LangGraph's documentation: a graph of one step, whose state is the thread's messages.
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";

const INSTRUCTIONS = "You are a helpful assistant in a chat. Answer briefly, in the language of the visitor.";
/** The model gets this many of a thread's messages. */
const HISTORY = 20;
const model = new ChatOpenAI({ model: "bench", configuration: { baseURL: process.env.OPENAI_BASE_URL } });

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }) => {
    const asked = [{ role: "system", content: INSTRUCTIONS }, ...messages.slice(-HISTORY)];
    return { messages: [await model.invoke(asked)] };
  })
  .addEdge(START, "answer")
  .compile();
