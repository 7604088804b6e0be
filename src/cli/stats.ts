import { InvalidArgumentError } from "commander";
import { isDay } from "../domain/day.ts";
import type { readStats } from "../operators/stats/stats.ts";
import { command } from "./command/command.ts";
import type { Call } from "./command/command.ts";
import { printJson, printTable } from "./command/print.ts";

/** `chat-agent stats`: statistics by day. */
export const stats = command({
  name: "stats",
  does: "what happened in the channels, by UTC day: visitors, messages, runs, tokens, waits",
  options: [
    ["--channel <slug>", "only of this channel"],
    ["--from <day>", "the first day, as 2026-11-22; 30 days in all without it", day],
    ["--to <day>", "the last day; today without it", day],
  ],
  json: "print a JSON array",
  async asks({
    api,
    options: { channel, from, to },
  }: Call<{ channel?: string; from?: string; to?: string }>) {
    const { items } = await api.get<{ items: Awaited<ReturnType<typeof readStats>> }>("/stats", {
      channel,
      from,
      to,
    });
    return items;
  },
  prints(items, { terminal, options }) {
    if (options.json) return printJson(terminal, items);
    const rows = items.map(({ runs, ...of }) => [
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
    ]);
    printTable(terminal, HEAD, rows, "There is no day from that one to this one");
  },
});

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
