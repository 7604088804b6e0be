import type { Clock } from "../../clock.ts";

/** Values that are kept for a while: at most `most`; the oldest is dropped. */
export interface BoundedCache<Value> {
  get(name: string): Value | undefined;
  set(name: string, value: Value): void;
  delete(name: string): void;
}

export function boundedCache<Value>({
  most,
  keptMs,
  clock,
  onGone = () => {},
}: {
  most: number;
  keptMs: number;
  clock: Pick<Clock, "elapsed">;
  /** Called with the name of each value that is dropped. */
  onGone?: (name: string) => void;
}): BoundedCache<Value> {
  // The oldest first: all are kept for the same time.
  const known = new Map<string, { value: Value; untilMs: number }>();

  function remove(name: string): void {
    if (known.delete(name)) onGone(name);
  }

  function removeOld(): void {
    const nowMs = clock.elapsed();
    for (const [name, { untilMs }] of known) {
      if (known.size <= most && nowMs < untilMs) return;
      remove(name);
    }
  }

  return {
    get(name) {
      const entry = known.get(name);
      if (entry === undefined) return undefined;
      if (clock.elapsed() < entry.untilMs) return entry.value;
      removeOld();
      return undefined;
    },

    set(name, value) {
      remove(name);
      known.set(name, { value, untilMs: clock.elapsed() + keptMs });
      removeOld();
    },

    delete: remove,
  };
}
