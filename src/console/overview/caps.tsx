import { useLoaded } from "../parts/loading.ts";
import { numberText } from "../parts/numbers.ts";
import type { Api } from "../service/api.ts";
import type { ChannelView, DayView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";

interface Use {
  slug: string;
  used: number;
  cap: number;
}

/** Channels with a cap for the day: how much of it is used. Nothing where none has one. */
export function Caps({ channels }: { channels: readonly ChannelView[] }) {
  const { api } = useConsole();
  const capped = channels.filter(({ agent }) => agent.maxTokensPerDay !== undefined);
  const uses = useLoaded<Use[]>(
    (signal) => Promise.all(capped.map((channel) => useOf(api, channel, signal))),
    capped.map(({ slug, agent }) => `${slug} ${agent.maxTokensPerDay}`),
  );
  if (capped.length === 0 || !uses.value) return null;
  return (
    <section class="spending" aria-label="Spending caps">
      <h2>Spending today</h2>
      <ul>
        {uses.value.map(({ slug, used, cap }) => (
          <li key={slug}>
            <a href={linkTo(["channels", slug])}>{slug}</a>
            <meter
              value={Math.min(used, cap)}
              max={cap}
              high={cap * 0.8}
              aria-label={`Tokens of ${slug} today`}
            />
            <span>
              {numberText(used)} of {numberText(cap)} tokens
            </span>
          </li>
        ))}
      </ul>
      <p class="hint">UTC days. Past its cap a run ends as over its budget.</p>
    </section>
  );
}

async function useOf(api: Api, { slug, agent }: ChannelView, signal: AbortSignal): Promise<Use> {
  const today = new Date().toISOString().slice(0, 10);
  const { items } = await api.list<DayView>("/stats", { channel: slug, from: today, to: today }, signal);
  const used = items.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  return { slug, used, cap: agent.maxTokensPerDay ?? 0 };
}
