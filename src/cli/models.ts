import type { Command } from "commander";
import { readConfig, readVariable } from "../config.ts";
import { membersOf, readProviders } from "../installation/providers-file.ts";
import type { WrittenProviders } from "../installation/providers-file.ts";
import { checkModel } from "../models/check-model.ts";
import type { ModelReport } from "../models/check-model.ts";
import { openModel } from "../installation/open-model.ts";
import { printJson, printTable } from "./command/print.ts";
import { CannotDo } from "./command/terminal.ts";
import type { Terminal } from "./command/terminal.ts";

/** `chat-agent models`: the models, and whether they work. It needs no store. */
export function addModels(program: Command, terminal: Terminal): void {
  const models = program.command("models").description("Shows and tries the models that answer.");
  models
    .command("list")
    .description("names of models, and who answers to each")
    .option("--json", "for scripts")
    .action(({ json = false }: { json?: boolean }) => list(terminal, json));
  models
    .command("check")
    .argument("[NAME]", "a name of the providers file, or PROVIDER/MODEL; without it, all of them")
    .description(
      "asks for a word, a stream, a call of a tool, the colour of a picture, and says what cannot be done",
    )
    .option("--json", "for scripts")
    .action((name: string | undefined, { json = false }: { json?: boolean }) => check(terminal, name, json));
}

async function list(terminal: Terminal, json: boolean): Promise<void> {
  const written = await readWritten(terminal);
  const rows = namesOf(written).map((name) => ({ name, answers: answersTo(written, name) }));
  if (json) printJson(terminal, rows);
  else
    printTable(
      terminal,
      ["NAME", "ANSWERS"],
      rows.map(({ name, answers }) => [name, answers.join(", ")]),
      "There are none.",
    );
}

async function check(terminal: Terminal, name: string | undefined, json: boolean): Promise<void> {
  const written = await readWritten(terminal);
  const names = name === undefined ? namesOf(written) : [name];
  const asked = [...new Set(names.flatMap((each) => answersTo(written, each)))];
  const model = await openModel(readConfig(terminal.env), { written });
  const stop = new AbortController();
  const ignore = terminal.onInterrupt(() => stop.abort(new CannotDo("Stopped")));
  try {
    const reports: ModelReport[] = [];
    for (const each of asked) reports.push(await checkModel(model, each, stop.signal));
    if (json) printJson(terminal, reports);
    else printReports(terminal, reports);
    const mute = reports.filter(({ word }) => !word).map((report) => report.model);
    if (mute.length > 0) throw new CannotDo(`Cannot chat: ${mute.join(", ")}`);
  } finally {
    ignore();
    await model.close();
  }
}

function printReports(terminal: Terminal, reports: readonly ModelReport[]): void {
  const head = ["MODEL", "WAY", "WORD", "STREAM", "TOOL CALL", "SECOND TURN", "USAGE", "IMAGES", "NOTE"];
  const rows = reports.map(({ model, way, word, stream, toolCall, secondTurn, usage, images, note }) => [
    model,
    way,
    word,
    stream,
    toolCall,
    secondTurn,
    usage,
    images,
    note,
  ]);
  printTable(terminal, head, rows, "There are none.");
}

function readWritten(terminal: Terminal): Promise<WrittenProviders> {
  const config = readConfig(terminal.env);
  return readProviders(config, (name) => readVariable(name, terminal.env));
}

/** The default first. */
function namesOf({ models, defaultModel }: WrittenProviders): string[] {
  return [...new Set([defaultModel, ...models.keys()])];
}

function answersTo(written: WrittenProviders, name: string): string[] {
  if (written.providers.length === 0) return ["demo"];
  const members = membersOf(written, name);
  if (members === null) throw new CannotDo(`Cannot find the model ${name}: no provider has it`);
  // The variables configure only one provider, so a name alone is a model of it.
  return members.map(({ provider, model }) => (written.isFile ? `${provider}/${model}` : model));
}
