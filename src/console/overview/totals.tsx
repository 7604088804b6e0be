import { compactText, numberText } from "../parts/numbers.ts";
import type { DayView } from "../service/views.ts";

/** The period in a line of numbers. */
export function Totals({ days }: { days: readonly DayView[] }) {
  const sum = (value: (day: DayView) => number) => days.reduce((all, day) => all + value(day), 0);
  const runs = sum((day) => Object.values(day.runs).reduce((all, count) => all + count, 0));
  const failed = sum((day) => day.runs.failed + day.runs.expired);
  const thumbs = sum((day) => day.thumbsUp + day.thumbsDown);
  const up = sum((day) => day.thumbsUp);
  const totals: [string, string][] = [
    ["messages", numberText(sum(({ messages }) => messages))],
    ["runs", numberText(runs)],
    ["failed or expired", runs === 0 ? "none" : `${percent(failed / runs)}`],
    ["tokens", compactText(sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens))],
    ...costsOf(days).map(([currency, cost]): [string, string] => ["models cost", moneyText(cost, currency)]),
    ["thumbs up", thumbs === 0 ? "none yet" : percent(up / thumbs)],
  ];
  return (
    <dl class="totals">
      {totals.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Of all days together, by currency. */
export function costsOf(days: readonly DayView[]): [currency: string, cost: number][] {
  const sums = new Map<string, number>();
  for (const { costs = {} } of days)
    for (const [currency, cost] of Object.entries(costs))
      sums.set(currency, (sums.get(currency) ?? 0) + cost);
  return [...sums];
}

/** Of less than a unit, four digits behind the point: a conversation costs a part of a cent. */
function moneyText(amount: number, currency: string): string {
  const maximumFractionDigits = amount < 1 ? 4 : 2;
  return new Intl.NumberFormat(undefined, { style: "currency", currency, maximumFractionDigits }).format(
    amount,
  );
}

function percent(part: number): string {
  return new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }).format(part);
}
