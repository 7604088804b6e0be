/**
 * To watch: `npx tsx test/faults/takeover-demo.ts`. Two instances on one Redis; a visitor is in the middle of a reply
 * when the instance is killed with SIGKILL. The other one takes the run up, the visitor re-attaches there, and reads on
 * to the end. Needs redis-server.
 */
import type { Line } from "../../machines/line.ts";
import { say, startModelServer, wait } from "../support/servers/model-server.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { ask, createThread, createVisitor, visitorHeaders } from "./history/client.ts";
import { killVictims, startVictim } from "./victims/victims.ts";

const QUESTION = "What happens when a process dies?";
const ANSWER =
  "Another one reads from the store what was saved, takes the run up where the last save left off, and says the rest. Nothing that was acknowledged is lost.";

const began = performance.now();
const at = () => `${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s`;
const tell = (text: string) => console.log(`${at()}  ${text}`);

const redis = await startRedis();
const model = await startModelServer(() => ANSWER.split(/(?<= )/).flatMap((word) => [wait(120), say(word)]));
const env = { REDIS_URL: redis.url, OPENAI_BASE_URL: model.baseUrl };
const [a, b] = await Promise.all([startVictim(env), startVictim(env)]);
tell(`Redis ${redis.url}; instance A ${a.url}, process ${a.pid}; instance B ${b.url}, process ${b.pid}`);

const token = String((await createVisitor(a.url)).value["visitorToken"]);
const threadId = String((await createThread(a.url, token)).value["threadId"]);
const headers = visitorHeaders(token);

tell(`the visitor asks A: ${QUESTION}`);
const kills: Promise<void>[] = [];
let words = 0;
const cut = await ask(a.url, "/v1/widget/messages", {
  headers,
  body: { threadId, text: QUESTION },
  onLine(line) {
    show("A", line);
    words += 1;
    if (words === 8) kills.push(killA());
  },
});
await Promise.all(kills);
tell(
  `A's stream is cut after ${cut.lines.length} lines, without a terminal one; the visitor re-attaches to B`,
);

const rest = await ask(b.url, `/v1/widget/threads/${threadId}/stream`, {
  method: "GET",
  headers,
  onLine: (line) => show("B", line),
});
const ended = rest.lines.at(-1)?.type === "done";
tell(ended ? "B said it to the end" : "B did not say it to the end");

const history = await ask(b.url, `/v1/widget/threads/${threadId}/messages`, { method: "GET", headers });
for (const item of history.value["items"] as { role: string; content: string }[]) {
  tell(`history: ${item.role}: ${item.content}`);
}
await killVictims();
await model.close();
await redis.stop();
process.exitCode = ended ? 0 : 1;

async function killA(): Promise<void> {
  tell("kill -9 A");
  await a.kill9();
}

function show(name: string, line: Line): void {
  tell(`${name} → ${JSON.stringify(line)}`);
}
