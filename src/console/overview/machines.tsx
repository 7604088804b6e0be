import { fitting } from "../inbox/inbox-state.ts";
import { useLiveThreads } from "../inbox/live-threads.ts";
import { ThreadRow } from "../inbox/thread-row.tsx";
import { useConsole } from "../shell/console-context.ts";

const SHOWN = 8;
const LATEST_ONLY: readonly [] = [];

/** The conversations with the latest activity, live, each a link to its machine. */
export function Machines({ slugs }: { slugs: readonly string[] }) {
  const { api, events } = useConsole();
  const { threads } = useLiveThreads(api, events, { slugs, states: LATEST_ONLY });
  const latest = fitting(threads, () => true)
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .slice(0, SHOWN);
  if (latest.length === 0) return null;
  return (
    <section class="machines" aria-labelledby="machines-title">
      <h2 id="machines-title">Machines</h2>
      <p class="quiet">What each conversation is doing, event by event: the latest first.</p>
      <ul>
        {latest.map((thread) => (
          <li key={thread.id}>
            <ThreadRow thread={thread} tabIndex={0} withChannel part="machine" />
          </li>
        ))}
      </ul>
    </section>
  );
}
