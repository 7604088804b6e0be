import { useRef, useState } from "preact/hooks";
import { durationText } from "../parts/durations.ts";
import { numberText } from "../parts/numbers.ts";
import { Trouble } from "../parts/trouble.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { messageOf } from "../service/problem.ts";
import { saveAs } from "../service/save-as.ts";
import type { PeopleRowView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

const REPORT = "/reports/people";

/** How hand-offs went in these days, by queue and operator; nothing where there were none. */
export function People({ channel, from, to }: { channel: string; from: string; to: string }) {
  const { api, tell } = useConsole();
  const [trouble, setTrouble] = useState<string | null>(null);
  const leaving = useRef(new AbortController());
  const loaded = useLoaded<PeopleRowView[]>(
    async (signal) => (await api.list<PeopleRowView>(REPORT, { channel, from, to }, signal)).items,
    [channel, from, to],
  );
  const rows = loaded.value ?? [];
  const save = async () => {
    const { signal } = leaving.current;
    setTrouble(null);
    try {
      const open = () => api.open(REPORT, { channel, from, to, format: "csv" }, signal);
      const isSaved = await saveAs(`people-${from}-${to}.csv`, open, { signal, onBytes() {} });
      if (isSaved) tell("The report is saved");
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  if (rows.length === 0) return <Trouble text={loaded.trouble} onRetry={loaded.reload} />;
  return (
    <section class="people-report" aria-labelledby="people-report">
      <div class="heading">
        <h2 id="people-report">People</h2>
        <button type="button" class="button small" onClick={() => void save()}>
          Save as CSV
        </button>
      </div>
      <Trouble text={trouble} />
      <div class="scrolls" tabIndex={0} role="group" aria-label="How hand-offs went">
        <table>
          <thead>
            <tr>
              <th scope="col">Queue</th>
              <th scope="col">Operator</th>
              <th scope="col">Asked for</th>
              <th scope="col">Taken</th>
              <th scope="col">Nobody came</th>
              <th scope="col">Left unanswered</th>
              <th scope="col">Wait, half and 9 of 10</th>
              <th scope="col">To the end, half and 9 of 10</th>
              <th scope="col">Rating</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.queue} ${row.operator}`}>
                <td>{row.queue ?? "none"}</td>
                <td>{row.operator ?? "nobody"}</td>
                <td>{numberText(row.asked)}</td>
                <td>{numberText(row.taken)}</td>
                <td>{numberText(row.missed)}</td>
                <td>{numberText(row.unanswered)}</td>
                <td>{timesText(row.waitMsP50, row.waitMsP90)}</td>
                <td>{timesText(row.tookMsP50, row.tookMsP90)}</td>
                <td>{row.csat === null ? "" : `${row.csat} (${numberText(row.ratings)})`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function timesText(half: number | null, most: number | null): string {
  return half === null || most === null ? "" : `${durationText(half)}, ${durationText(most)}`;
}
