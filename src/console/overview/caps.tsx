import { useLoaded } from "../parts/use-loaded.ts";
import { numberText } from "../parts/numbers.ts";
import { Trouble } from "../parts/trouble.tsx";
import type { CapUse, CapsView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";

/**
 * Today's spending caps, and how much is used of them: of the installation, of each address, and of the channels, or of
 * one channel. Nothing where there is none. `stamp`: a change of it asks anew.
 */
export function Caps({ channel, stamp = "" }: { channel?: string; stamp?: string }) {
  const { api } = useConsole();
  const loaded = useLoaded<CapsView>((signal) => api.get("/caps", {}, signal), [stamp]);
  const caps = loaded.value;
  if (caps === null) return <Trouble text={loaded.trouble} onRetry={loaded.reload} />;
  const { installation, address } = caps;
  const channels = caps.channels.filter((one) => channel === undefined || one.channel === channel);
  if (installation === null && address === null && channels.length === 0) return null;
  return (
    <section class="spending" aria-label="Spending caps">
      <h2>Spending today</h2>
      <ul>
        {installation && <Use name="All channels" use={installation} />}
        {channels.map((use) => (
          <Use
            key={use.channel}
            name={use.channel}
            {...(channel === undefined ? { link: linkTo(["channels", use.channel]) } : {})}
            use={use}
          />
        ))}
        {address && (
          <li>
            <span>Each address</span>
            <span class="limit">{numberText(address.limit)} tokens at most</span>
          </li>
        )}
      </ul>
      <p class="hint">
        Tokens of this UTC day. Where a cap is used up, replies end with a word about it until the next day.
      </p>
    </section>
  );
}

function Use({ name, link, use: { used, limit } }: { name: string; link?: string; use: CapUse }) {
  return (
    <li>
      {link === undefined ? <span>{name}</span> : <a href={link}>{name}</a>}
      <meter
        value={Math.min(used, limit)}
        max={limit}
        high={limit * 0.8}
        aria-label={`Tokens today: ${name}`}
      />
      <span class={used < limit ? "limit" : "limit spent"}>
        {numberText(used)} of {numberText(limit)}
        {used < limit ? " tokens" : ", used up"}
      </span>
    </li>
  );
}
