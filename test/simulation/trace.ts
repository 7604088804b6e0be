import type { VirtualTime } from "./virtual-time.ts";

/** What happened, line by line, with short names in place of random ids: the same seed gives the same trace. */
export interface Trace {
  readonly lines: readonly TraceLine[];
  /** `thread`: the uid of the thread that it is about; null: of everybody's concern. */
  add(thread: string | null, text: string): void;
  /** A short name for a random id: `t1`, `u2`. */
  name(kind: string, id: string): string;
  /** From now on the id goes by this name. */
  know(id: string, name: string): void;
}

export interface TraceLine {
  atMs: number;
  thread: string | null;
  text: string;
}

export function createTrace(time: VirtualTime): Trace {
  const lines: TraceLine[] = [];
  const names = new Map<string, string>();
  const counts = new Map<string, number>();

  return {
    lines,

    add(thread, text) {
      lines.push({ atMs: time.nowMs, thread, text });
    },

    know: (id, name) => void names.set(id, name),

    name(kind, id) {
      const known = names.get(id);
      if (known !== undefined) return known;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      names.set(id, `${kind}${count}`);
      return `${kind}${count}`;
    },
  };
}

export function traceText(lines: readonly TraceLine[], { name }: Pick<Trace, "name">): string[] {
  return lines.map(({ atMs, thread, text }) => {
    const about = thread === null ? "" : name("t", thread);
    return `${(atMs / 1000).toFixed(4).padStart(9)}  ${about.padEnd(4)}${text}`;
  });
}
