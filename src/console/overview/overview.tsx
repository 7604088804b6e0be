import { useMemo } from "preact/hooks";
import { Waiting } from "../lists/paged-list.tsx";
import { Empty } from "../parts/empty.tsx";
import { SelectField } from "../parts/fields.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { Trouble } from "../parts/trouble.tsx";
import type { DayView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { go, linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { Caps } from "./caps.tsx";
import { Figure } from "./figure.tsx";
import { Machines } from "./machines.tsx";
import { People } from "./people.tsx";
import { filledDays, hasValues, plotsOf } from "./series.ts";
import { Totals } from "./totals.tsx";

const PERIODS = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
] as const;

/** How it goes: by day, of all channels or of one. */
export function Overview({ query }: { query: Readonly<Record<string, string>> }) {
  const { api, me, channels } = useConsole();
  const period = PERIODS.find(([days]) => days === query["days"])?.[0] ?? "30";
  const channel = channels?.find(({ slug }) => slug === query["channel"])?.slug ?? "";
  const { from, to } = periodOf(Number(period));
  const loaded = useLoaded<DayView[]>(
    async (signal) =>
      filledDays((await api.list<DayView>("/stats", { channel, from, to }, signal)).items, from, to),
    [channel, from, to],
  );
  const days = loaded.value;
  const plots = useMemo(() => (days ? plotsOf(days) : []), [days]);
  const show = (change: { channel?: string; days?: string }) =>
    go(linkTo([], { channel, days: period, ...change }));
  const isEmpty = days !== null && !plots.some(hasValues);
  return (
    <Titled title="Overview">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <SelectField
          label="Channel"
          value={channel}
          choices={[["", "Every channel"], ...(channels ?? []).map(({ slug }) => [slug, slug] as const)]}
          onChoose={(value) => show({ channel: value })}
        />
        <SelectField
          label="Time"
          value={period}
          choices={PERIODS}
          onChoose={(value) => show({ days: value })}
        />
      </form>
      <Trouble text={loaded.trouble} onRetry={loaded.reload} />
      {days === null && loaded.trouble === null && <Waiting />}
      {isEmpty && (
        <Empty title="No data in this period.">
          <p>
            Write to the service, on the demo page or with the line that its start printed, and it shows here.
            Who talks right now is in the <a href={linkTo(["inbox"])}>inbox</a>.
          </p>
        </Empty>
      )}
      {days && !isEmpty && <Totals days={days} />}
      <Caps {...(channel === "" ? {} : { channel })} />
      <People channel={channel} from={from} to={to} />
      {mayOf(me).readTexts && channels && (
        <Machines slugs={channel === "" ? channels.map(({ slug }) => slug) : [channel]} />
      )}
      {!isEmpty && (
        <div class="plots">
          {plots.map((spec) => (
            <Figure key={spec.title} spec={spec} />
          ))}
        </div>
      )}
    </Titled>
  );
}

/** The last days, today included; as the service counts them, in UTC. */
function periodOf(days: number): { from: string; to: string } {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  return { from: day(Date.now() - (days - 1) * 86_400_000), to: day(Date.now()) };
}
