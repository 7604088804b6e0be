import type { Command } from "commander";
import { CHARTS } from "../../machines/charts.ts";
import { drawMermaid } from "../../machines/draw/mermaid.ts";
import { outlineOf } from "../../machines/draw/outline.ts";
import type { RunSummary, Store } from "../store.ts";
import { noteReading } from "../operators/threads.ts";
import { asCommandLine } from "./as-command-line.ts";
import { printFields, printJson, printTable } from "./print.ts";
import { CannotDo } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { existingChannel } from "./existing.ts";
import { withStore } from "./with-store.ts";

/** `--run` searches this many of the latest runs. */
const RUNS_SEARCHED = 100;

interface MachinesOptions {
  run?: string;
  json?: boolean;
}

/** `chat-agent machines`: a chart, or the path that a run took through the thread's chart. */
export function addMachines(program: Command, terminal: Terminal): void {
  program
    .command("machines")
    .description("print a statechart in Mermaid, or the path that a thread's run took through it")
    .argument(
      "[name]",
      `a chart: ${Object.keys(CHARTS).join(", ")}; or the channel of the thread that follows`,
    )
    .argument("[thread]", "the id that `threads list` prints")
    .option("--run <id>", "another run than the thread's last one")
    .option("--json", "print JSON")
    .action(async (name: string = "thread", uid: string | undefined, options: MachinesOptions) => {
      if (uid === undefined) return printChart(terminal, name, options);
      await withStore(terminal, async (store) => {
        await existingChannel(store, name);
        const run = await existingRun(store, name, uid, options.run);
        await noteReading(asCommandLine(store), name, uid);
        printPath(terminal, run, options);
      });
    });
}

function printChart(terminal: Terminal, name: string, options: MachinesOptions): void {
  const chart = Object.entries(CHARTS).find(([known]) => known === name);
  if (chart === undefined) {
    throw new CannotDo(`Cannot draw ${name}: the charts are ${Object.keys(CHARTS).join(", ")}`);
  }
  const outline = outlineOf(chart[1]);
  if (options.json) printJson(terminal, outline);
  else terminal.out(drawMermaid(outline));
}

async function existingRun(
  store: Store,
  slug: string,
  uid: string,
  runId: string | undefined,
): Promise<RunSummary> {
  const record = await store.load(uid, 1);
  if (record?.slug !== slug)
    throw new CannotDo(`Cannot find thread ${uid}: channel ${slug} has none of that id`);
  const runs = await store.runs(uid, RUNS_SEARCHED);
  const run = runId === undefined ? runs.at(-1) : runs.find((one) => one.runId === runId);
  if (run === undefined)
    throw new CannotDo(`Cannot find run ${runId ?? ""}: thread ${uid} has none of that id`);
  return run;
}

function printPath(terminal: Terminal, run: RunSummary, options: MachinesOptions): void {
  const { runId, saidAtMs, outcome, terminal: last, path } = run;
  if (options.json)
    return printJson(terminal, { id: runId, saidAt: saidAtMs, outcome, terminal: last, path });
  printFields(terminal, { run: runId, said: new Date(saidAtMs).toISOString(), outcome: outcome ?? "active" });
  terminal.out("\n");
  printTable(
    terminal,
    ["AFTER", "EVENT", "STATE", "SAID"],
    path.map((move) => [`${move.atMs - saidAtMs} ms`, move.event, move.state, move.said.join(", ")]),
    "No move was recorded",
  );
}
