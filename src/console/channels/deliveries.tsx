import { useState } from "preact/hooks";
import { CheckField } from "../parts/fields.tsx";
import { durationText } from "../parts/durations.ts";
import { Time } from "../parts/times.tsx";
import type { DeliveryView } from "../service/views.ts";
import { faultText } from "./standing.ts";

/** Seen at first: what one looks for is mostly among the latest. */
const FIRST = 10;

/** What was sent to an endpoint, the latest first. */
export function Deliveries({ deliveries, label }: { deliveries: readonly DeliveryView[]; label: string }) {
  const [failedAlone, setFailedAlone] = useState(false);
  const [isWhole, setWhole] = useState(false);
  if (deliveries.length === 0) return <p class="hint">No deliveries yet.</p>;
  const fitting = failedAlone ? deliveries.filter(({ fault }) => fault !== null) : deliveries;
  const shown = isWhole ? fitting : fitting.slice(0, FIRST);
  return (
    <div class="deliveries">
      <div class="deliveries-head">
        <h3>Latest deliveries</h3>
        <CheckField label="Only failed" checked={failedAlone} onChange={setFailedAlone} />
      </div>
      {fitting.length === 0 && <p class="hint">None of the latest {deliveries.length} failed.</p>}
      <ul aria-label={label}>
        {shown.map((delivery) => (
          <Delivery key={`${delivery.id} ${delivery.attempt} ${delivery.at}`} delivery={delivery} />
        ))}
      </ul>
      {shown.length < fitting.length && (
        <button type="button" class="button small" onClick={() => setWhole(true)}>
          Show all {fitting.length}
        </button>
      )}
    </div>
  );
}

function Delivery({ delivery }: { delivery: DeliveryView }) {
  const { id, event, at, attempt, status, fault, elapsedMs } = delivery;
  return (
    <li>
      <span class="event">
        {event}
        {attempt > 1 && <span class="quiet"> try {attempt}</span>}
      </span>
      <span class={fault === null ? "outcome" : "outcome failed"}>
        {fault === null ? `taken (${status ?? ""})` : faultText(delivery)}
      </span>
      <span class="mono id" title="The webhook-id: retries have the same">
        {id}
      </span>
      <span class="took">{durationText(elapsedMs)}</span>
      <span class="when">
        <Time at={at} style="ago" />
      </span>
    </li>
  );
}
