import { CHARTS } from "../../machines/charts.ts";
import { drawMermaid } from "../../machines/draw/mermaid.ts";
import { outlineOf } from "../../machines/draw/outline.ts";
import type { runView } from "../operators/threads/threads.ts";
import { at } from "./command/ask.ts";
import { command } from "./command/command.ts";
import type { Call } from "./command/command.ts";
import { printFields, printJson, printTable } from "./command/print.ts";
import { CannotDo } from "./command/terminal.ts";

type Run = ReturnType<typeof runView>;
type OfRun = Call<{ run?: string }>;

/** `--run` searches this many of the latest runs. */
const RUNS_SEARCHED = 100;

/** `chat-agent machines`: a chart, or the path that a run took through the thread's chart. */
export const machines = command({
  name: "machines",
  does: "print a statechart in Mermaid, or the path that a thread's run took through it",
  takes: [
    ["[name]", `a chart: ${Object.keys(CHARTS).join(", ")}; or the channel of the thread that follows`],
    ["[thread]", "the id that `threads list` prints"],
  ],
  options: [["--run <id>", "another run than the thread's last one"]],
  json: "print JSON",
  async asks(call: OfRun, name: string = "thread", thread?: string) {
    return thread === undefined ? { chart: chartOf(name) } : { run: await runOf(call, name, thread) };
  },
  prints({ chart, run }, { terminal, options }) {
    if (options.json) return printJson(terminal, run ?? chart);
    if (run === undefined) return terminal.out(drawMermaid(chart));
    const { id, saidAt, outcome, path } = run;
    printFields(terminal, { run: id, said: new Date(saidAt).toISOString(), outcome: outcome ?? "active" });
    terminal.out("\n");
    const rows = path.map((move) => [
      `${move.atMs - saidAt} ms`,
      move.event,
      move.state,
      move.said.join(", "),
    ]);
    printTable(terminal, ["AFTER", "EVENT", "STATE", "SAID"], rows, "No move was recorded");
  },
});

function chartOf(name: string) {
  const chart = Object.entries(CHARTS).find(([known]) => known === name);
  if (chart !== undefined) return outlineOf(chart[1]);
  throw new CannotDo(`Cannot draw ${name}: the charts are ${Object.keys(CHARTS).join(", ")}`);
}

async function runOf({ api, options }: OfRun, slug: string, thread: string): Promise<Run> {
  const path = at`/channels/${slug}/threads/${thread}/runs`;
  const { items } = await api.get<{ items: Run[] }>(path, { limit: RUNS_SEARCHED });
  const run = options.run === undefined ? items.at(-1) : items.find(({ id }) => id === options.run);
  if (run !== undefined) return run;
  throw new CannotDo(`Cannot find run ${options.run ?? ""}: thread ${thread} has none of that id`);
}
