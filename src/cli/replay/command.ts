import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import { readConfig, readVariable } from "../../config.ts";
import type { Config } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import { openModel } from "../../installation/open-model.ts";
import { membersOf, readProviders } from "../../installation/providers-file.ts";
import type { WrittenProviders } from "../../installation/providers-file.ts";
import { createLog } from "../../log.ts";
import type { Model } from "../../model.ts";
import { parseCases, withCase } from "../../replay/case-file.ts";
import type { ReplayCase } from "../../replay/case.ts";
import { checkCase, needsJudge } from "../../replay/checks.ts";
import { inParallel } from "../../replay/in-parallel.ts";
import { createJudge } from "../../replay/judge.ts";
import { junitOf } from "../../replay/junit.ts";
import type { CheckedCase } from "../../replay/junit.ts";
import { playCase } from "../../replay/play.ts";
import type { PlayOptions } from "../../replay/play.ts";
import { parsePrices } from "../../replay/prices.ts";
import { createStandIn } from "../../replay/stand-in.ts";
import { summaryOf } from "../../replay/summary.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import { HELP } from "./help.ts";
import { printJsonReport, printReport } from "./report.ts";
import { readStoredCase } from "./stored-case.ts";

interface ReplayOptions {
  model?: string;
  instructions?: string;
  toolModel?: string;
  judgeModel?: string;
  prices?: string;
  junit?: string;
  save?: string;
  user?: string;
  listTools: boolean;
  concurrency: number;
  json?: boolean;
}

/** `chat-agent replay`: recorded conversations against another model or other instructions. */
export function addReplay(program: Command, terminal: Terminal): void {
  const command = program
    .command("replay")
    .description(
      "replays recorded conversations against another model or other instructions; nothing real is touched",
    )
    .argument("<file-or-slug>", "a file of cases; or, with an id, the channel of a stored thread")
    .argument("[id]", "the id that `threads list` prints; with --user, your own id of the thread")
    .option("--user <user>", "whose thread: external id, or user id")
    .option("--model <name>", "who answers, instead of the recorded channel's model")
    .option("--instructions <file>", "text file: instead of the recorded channel's instructions")
    .option("--tool-model <name>", "answers calls that the record does not; without it they end the case")
    .option("--judge-model <name>", "decides `judge` checks")
    .option("--prices <file>", "JSON file: what a million tokens cost")
    .option("--junit <file>", "writes a JUnit report for CI")
    .option("--save <file>", "adds the stored thread to a file of cases, and replays nothing")
    .option(
      "--no-list-tools",
      "with an id: does not ask the channel's MCP servers for the list of their tools",
    )
    .option("--concurrency <cases>", "how many cases are replayed at a time", parseCount, 4)
    .option("--json", "print everything as JSON")
    .addHelpText("after", HELP);
  command.action(async (source: string, id: string | undefined, options: ReplayOptions) => {
    if (options.save === undefined)
      return replay(terminal, await casesOf(terminal, source, id, options), options);
    if (id === undefined)
      return command.error("error: --save takes a stored thread: SLUG ID", { exitCode: 2 });
    return save(await storedCase(terminal, source, id, options), options.save);
  });
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It takes a whole number from 1 to 999.");
}

async function casesOf(
  terminal: Terminal,
  source: string,
  id: string | undefined,
  options: ReplayOptions,
): Promise<ReplayCase[]> {
  if (id !== undefined) return [await storedCase(terminal, source, id, options)];
  return readAs(source, "the cases", parseCases);
}

function storedCase(terminal: Terminal, slug: string, id: string, { user, listTools }: ReplayOptions) {
  return readStoredCase(terminal, { slug, id, userId: user ?? null, listTools });
}

function save(recorded: ReplayCase, path: string): void {
  const asLines = /\.(ndjson|jsonl)$/i.test(path);
  const add = (before: string | null) => withCase(before, recorded, { asLines });
  writeFileSync(path, existsSync(path) ? readAs(path, "the cases", add) : add(null));
}

/** Reads and parses a file. Throws CannotDo with the file's name and the fault. */
function readAs<Value>(path: string, what: string, parse: (text: string) => Value): Value {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new CannotDo(`Cannot read ${what} in ${path}: ${messageOf(error)}`);
  }
}

async function replay(
  terminal: Terminal,
  cases: readonly ReplayCase[],
  options: ReplayOptions,
): Promise<void> {
  const config = readConfig(terminal.env);
  const { prices: pricesFile, instructions: instructionsFile, judgeModel, junit } = options;
  const prices = pricesFile === undefined ? null : readAs(pricesFile, "the prices", parsePrices);
  const instructions =
    instructionsFile === undefined ? undefined : readAs(instructionsFile, "the instructions", String);
  if (judgeModel === undefined && cases.some(needsJudge))
    throw new CannotDo("Cannot judge: a case has a judge check, and --judge-model is missing");

  const written = await readProviders(config, (name) => readVariable(name, terminal.env));
  for (const name of namesIn(cases, options)) mustAnswer(written, name);
  const model = await openModel(config, { written });
  const stop = new AbortController();
  const ignore = terminal.onInterrupt(() => stop.abort(new CannotDo("Stopped")));
  try {
    const play = playOptions(config, model, options, instructions);
    const judge = judgeModel === undefined ? null : createJudge(model, judgeModel);
    const checked = await inParallel(cases, options.concurrency, async (each): Promise<CheckedCase> => {
      const played = await playCase(each, play, stop.signal);
      return { played, checks: await checkCase(played, judge, stop.signal) };
    });
    const summary = summaryOf(checked, prices);
    if (junit !== undefined) writeFileSync(junit, junitOf(checked));
    if (options.json) printJsonReport(terminal, checked, summary);
    else printReport(terminal, checked, summary);
    const { checks, ended } = summary;
    if (checks.failed > 0 || ended > 0) throw new CannotDo(complaint(checks, ended));
  } catch (error) {
    // Ends the cases that are still running.
    stop.abort(error);
    throw error;
  } finally {
    ignore();
    await model.close();
  }
}

function complaint(checks: { all: number; failed: number }, ended: number): string {
  const faults = [
    ...(checks.failed > 0 ? [`${checks.failed} of ${checks.all} checks failed`] : []),
    ...(ended > 0 ? [`${ended} ${ended === 1 ? "case" : "cases"} did not come to an end`] : []),
  ];
  return `Cannot pass: ${faults.join(", ")}`;
}

function playOptions(
  config: Config,
  model: Model,
  { model: name, toolModel }: ReplayOptions,
  instructions: string | undefined,
): PlayOptions {
  return {
    model,
    defaultModel: model.defaultModel ?? config.openai.model,
    overrides: {
      ...(name === undefined ? {} : { model: name }),
      ...(instructions === undefined ? {} : { instructions }),
    },
    standIn: toolModel === undefined ? null : createStandIn(model, toolModel),
    limits: {
      toolCalls: config.runMaxToolCalls,
      toolResultMs: config.toolResultTimeoutMs,
      replyChars: config.runMaxReplyChars,
      runMs: config.runTimeoutMs,
      inputTokens: config.agentMaxInputTokens,
    },
    clock: systemClock,
    log: createLog({ level: "silent", secrets: [], destination: { write() {} } }),
  };
}

function namesIn(cases: readonly ReplayCase[], options: ReplayOptions): string[] {
  const { model, toolModel, judgeModel } = options;
  const asked = model === undefined ? cases.map(({ agent }) => agent.model) : [model];
  return [...new Set([...asked, toolModel, judgeModel])].filter((name) => name !== undefined);
}

function mustAnswer(written: WrittenProviders, name: string): void {
  if (written.providers.length > 0 && membersOf(written, name) === null)
    throw new CannotDo(`Cannot find the model ${name}: no provider has it; --model names another one`);
}
