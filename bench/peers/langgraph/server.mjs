// `langgraphjs dev`: LangGraph's server without Docker, with enough workers for the benchmark's streams.
import { rm } from "node:fs/promises";

const { PORT } = process.env;
const url = `http://127.0.0.1:${PORT}`;

// Removes the threads of an earlier run.
await rm(".langgraph_api", { recursive: true, force: true });
process.argv.push("dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", PORT, "-n", "600");
await import("./node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");

while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, 100));
console.log(JSON.stringify({ url }));

async function answers() {
  try {
    return (await fetch(`${url}/ok`)).ok;
  } catch {
    return false;
  }
}
