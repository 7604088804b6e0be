import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { systemClock } from "../clock.ts";
import { isDay } from "../domain/day.ts";
import { readStats, statDays } from "../operators/stats.ts";
import type { Store } from "../store.ts";
import { existingChannel } from "./existing.ts";
import { printJson, printTable } from "./print.ts";
import type { Terminal } from "./terminal.ts";
import { withStore } from "./with-store.ts";

interface StatsOptions {
  channel?: string;
  from?: string;
  to?: string;
  json?: boolean;
}

/** `chat-agent stats`: statistics by day. */
export function addStats(program: Command, terminal: Terminal): void {
  program
    .command("stats")
    .description("what happened in the channels, by UTC day: visitors, messages, runs, tokens, waits")
    .option("--channel <slug>", "only of this channel")
    .option("--from <day>", "the first day, as 2026-11-22; 30 days in all without it", day)
    .option("--to <day>", "the last day; today without it", day)
    .option("--json", "print a JSON array")
    .action(async (options: StatsOptions) => {
      await withStore(terminal, (store) => printStats(store, terminal, options));
    });
}

async function printStats(
  store: Store,
  terminal: Terminal,
  { channel, from, to, json }: StatsOptions,
): Promise<void> {
  const channels = channel === undefined ? await store.channels() : [await existingChannel(store, channel)];
  const days = statDays({ from: from ?? null, to: to ?? null }, systemClock.now());
  const slugs = channels.map(({ slug }) => slug);
  const items = await readStats(store, slugs, days);
  if (json) return printJson(terminal, items);
  printTable(
    terminal,
    HEAD,
    items.map(({ runs, ...of }) => [
      of.day,
      of.visitors,
      of.messages,
      runs.done,
      runs.failed,
      runs.cancelled + runs.expired + runs.superseded,
      of.inputTokens,
      of.outputTokens,
      msText(of.waitMsP50),
      msText(of.waitMsP90),
    ]),
    "There is no day from that one to this one",
  );
}

const HEAD = [
  "DAY",
  "VISITORS",
  "MESSAGES",
  "DONE",
  "FAILED",
  "OTHER RUNS",
  "TOKENS IN",
  "TOKENS OUT",
  "WAIT P50",
  "WAIT P90",
];

function msText(ms: number | null): string | null {
  return ms === null ? null : `${ms} ms`;
}

function day(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError("a UTC day, as 2026-11-22");
  return text;
}
