import { useId, useState } from "preact/hooks";
import { Fact } from "../parts/fact.tsx";
import { numberText } from "../parts/numbers.ts";
import { Time } from "../parts/times.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import type { WebhookView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import { Deliveries } from "./deliveries.tsx";
import { standingOf, testText } from "./standing.ts";
import type { Tested } from "./standing.ts";

/** One who is told: how it stands, what waits, what was sent. */
export function Endpoint({
  slug,
  endpoint,
  mayAct,
  onActed,
}: {
  slug: string;
  endpoint: WebhookView;
  mayAct: boolean;
  onActed: () => void;
}) {
  const { api, tell } = useConsole();
  const { url, events, waiting, offSince, deliveries } = endpoint;
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const heading = useId();
  const path = pathOf("channels", slug, "webhooks");
  const act = async (does: () => Promise<void>) => {
    setBusy(true);
    setSaid(null);
    setTrouble(null);
    try {
      await does();
      onActed();
    } catch (error) {
      setTrouble(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  const test = () =>
    act(async () => {
      const { items } = await api.send<{ items: Tested[] }>("POST", `${path}/test`, { url });
      setSaid(items[0] ? testText(items[0]) : null);
    });
  const sendAgain = () =>
    act(async () => {
      const { items } = await api.send<{ items: { replayed: number }[] }>("POST", `${path}/replay`, { url });
      tell(`${numberText(items[0]?.replayed ?? 0)} sent again`);
    });
  const standing = standingOf(endpoint);
  return (
    <section class="endpoint" aria-labelledby={heading}>
      <div class="endpoint-head">
        <h2 id={heading} class="mono">
          {url}
        </h2>
        <span class={`flag ${standing.kind}`}>{standing.word}</span>
        {mayAct && (
          <span class="actions">
            <button type="button" class="button small" disabled={isBusy} onClick={() => void test()}>
              Send a test
            </button>
            <button
              type="button"
              class="button small"
              disabled={isBusy || waiting === 0}
              onClick={() => void sendAgain()}
            >
              Send again what failed
            </button>
          </span>
        )}
      </div>
      <p role="status" class="said">
        {said}
      </p>
      <Trouble text={trouble} />
      {offSince !== null && (
        <p class="off">
          It answered 410 Gone <Time at={offSince} style="ago" />, which switches it off: nothing is sent to
          it, and what happens waits. It is on again as soon as it takes a test.
        </p>
      )}
      {standing.kind === "awaiting" && <p class="off">{standing.why}</p>}
      <dl class="facts">
        <Fact name="Waiting">
          {waiting === 0 ? "nothing" : `${numberText(waiting)} ${waiting === 1 ? "event" : "events"}`}
        </Fact>
        <Fact name="Events">{events === null ? "everything" : events.join(", ")}</Fact>
      </dl>
      <Deliveries deliveries={deliveries} label={`Deliveries to ${url}`} />
    </section>
  );
}
