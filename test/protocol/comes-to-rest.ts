/**
 * Which states come to rest: those at rest do, and those of which every way onward, or some way, leads to one that does.
 * Answers 1 for each that does, by its number.
 */
export function comesToRest(
  rests: readonly boolean[],
  { from, to }: { from: readonly number[]; to: readonly number[] },
  ways: "every" | "some",
): Uint8Array {
  const good = Uint8Array.from(rests, Number);
  /** How many ways onward of a state must still turn out well. */
  const open = new Int32Array(rests.length);
  for (const id of from) open[id] = ways === "some" ? 1 : (open[id] ?? 0) + 1;

  const back = stepsBack(rests.length, from, to);
  const found = [...rests.keys()].filter((id) => rests[id]);
  for (let id = found.pop(); id !== undefined; id = found.pop()) {
    for (const before of back(id)) {
      const left = (open[before] ?? 0) - 1;
      open[before] = left;
      if (left > 0 || good[before] === 1) continue;
      good[before] = 1;
      found.push(before);
    }
  }
  return good;
}

/** The states from which a step leads to a state: all steps in one array, sorted by where they lead. */
function stepsBack(
  states: number,
  from: readonly number[],
  to: readonly number[],
): (id: number) => Int32Array {
  const ends = new Int32Array(states + 1);
  for (const id of to) ends[id] = (ends[id] ?? 0) + 1;
  for (let id = 1; id <= states; id++) ends[id] = (ends[id] ?? 0) + (ends[id - 1] ?? 0);
  const begins = ends.slice();
  const sorted = new Int32Array(from.length);
  for (const [step, id] of to.entries()) {
    const place = (begins[id] ?? 0) - 1;
    begins[id] = place;
    sorted[place] = from[step] ?? 0;
  }
  return (id) => sorted.subarray(begins[id] ?? 0, ends[id] ?? 0);
}
