import type { Measured } from "../rig/load.ts";
import { median, withSpread } from "../rig/numbers.ts";
import type { Target } from "../rig/section.ts";
import type { Entrant, Results } from "./field.ts";
import { BURST, overOwn, SLOW, SPACED } from "./outcome.ts";
import type { Cell, Outcome, Timed } from "./outcome.ts";

/** The service's target against each peer: the median of the ratios of the two within a repeat. */
export function targetsOf(outcome: Outcome): Target[] {
  const { itself, service, field, burst, spaced, slow } = outcome;
  const peersNamed = (name: string) => field.filter((one) => one.name.startsWith(name));
  const byHand = peersNamed("by hand");
  const ownSpaced = spaced.get(itself) ?? [];
  const ownSlow = slow.get(itself) ?? [];

  const faster = (peer: Entrant, atLeast: number): Target =>
    target({
      says: `${BURST.name}: at least ${atLeast}× the messages a second of ${peer.name}`,
      values: ratios(burst, service, peer, ({ perSecond }) => perSecond),
      unit: "×",
      isMet: (ratio) => ratio >= atLeast,
    });

  const sooner = (
    { name }: Cell,
    peer: Entrant,
    { results, own }: { results: Results<Timed>; own: readonly Timed[] },
  ): Target => {
    const theirs = overOwn(results.get(peer) ?? [], own);
    return target({
      says: `${name}: the first text comes no later after the model's own than that of ${peer.name} (p50)`,
      values: overOwn(results.get(service) ?? [], own).flatMap((ms, i) => divided(ms, theirs[i])),
      unit: "×",
      isMet: (ratio) => ratio <= 1,
    });
  };

  return [
    ...byHand.map((peer) => faster(peer, 0.9)),
    ...peersNamed("Fastify").map((peer) => faster(peer, 8)),
    ...peersNamed("LangGraph").map((peer) => faster(peer, 20)),
    ...peersNamed("Mastra").map((peer) => faster(peer, 40)),
    ...byHand.map((peer) =>
      target({
        says: `${SPACED.name}: at most 0.85× the CPU of ${peer.name}`,
        values: ratios(spaced, service, peer, ({ cpuMs }) => cpuMs),
        unit: "×",
        isMet: (ratio) => ratio <= 0.85,
      }),
    ),
    ...byHand.map((peer) => sooner(SPACED, peer, { results: spaced, own: ownSpaced })),
    ...byHand.map((peer) => sooner(SLOW, peer, { results: slow, own: ownSlow })),
  ];
}

function ratios(
  results: Results<Measured>,
  ours: Entrant,
  theirs: Entrant,
  pick: (measured: Measured) => number,
): number[] {
  const others = results.get(theirs)?.map(pick) ?? [];
  return (results.get(ours) ?? []).flatMap((measured, i) => divided(pick(measured), others[i]));
}

/** Empty if there is nothing to compare with: no peer, or a value below the rig's noise. */
function divided(ours: number, theirs = 0): number[] {
  return theirs > 0 ? [ours / theirs] : [];
}

function target(options: {
  says: string;
  values: number[];
  unit: string;
  isMet: (value: number) => boolean;
}): Target {
  const { says, values, unit, isMet } = options;
  if (values.length === 0) return { says, measured: "–", met: null };
  return { says, measured: `${withSpread(values)}${unit}`, met: isMet(median(values)) };
}
