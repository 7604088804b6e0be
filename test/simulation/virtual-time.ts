/**
 * The one time of a simulation: events in their order, each with everything that follows from it before the next one.
 *
 * Promises go on within an event, since nothing in a simulation waits for anything but events. So a run is a list of
 * events, and the same events in the same order do the same.
 */
export interface VirtualTime {
  readonly nowMs: number;
  /** Events so far. */
  readonly steps: number;
  /** Returns how to call it off. */
  after(ms: number, run: () => void): () => void;
  pause(ms: number): Promise<void>;
  /** Runs events until the condition holds, or `untilMs` is over. `afterStep` is called after each. */
  run(untilMs: number, isOver: () => boolean): Promise<void>;
}

interface Event {
  atMs: number;
  /** Events of one moment happen in the order in which they were planned. */
  nth: number;
  run: (() => void) | null;
}

export function createVirtualTime(): VirtualTime {
  const heap: Event[] = [];
  let nowMs = 0;
  let planned = 0;
  let steps = 0;

  function after(ms: number, run: () => void): () => void {
    const event: Event = { atMs: nowMs + Math.max(0, ms), nth: planned++, run };
    push(heap, event);
    return () => (event.run = null);
  }

  return {
    get nowMs() {
      return nowMs;
    },
    get steps() {
      return steps;
    },
    after,
    pause: (ms) => new Promise((resolve) => void after(ms, resolve)),

    async run(untilMs, isOver) {
      await promisesSettled();
      while (!isOver()) {
        const event = pop(heap);
        if (!event || event.atMs > untilMs) {
          if (event) push(heap, event);
          nowMs = untilMs;
          return;
        }
        if (!event.run) continue;
        nowMs = event.atMs;
        steps++;
        event.run();
        await promisesSettled();
      }
    },
  };
}

/** The event loop goes on only when no promise has anything left to do. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function isEarlier(one: Event | undefined, other: Event | undefined): boolean {
  if (!one || !other) return one !== undefined;
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.nth < other.nth);
}

function swap(heap: Event[], i: number, j: number): void {
  const [one, other] = [heap[i], heap[j]];
  if (!one || !other) return;
  heap[i] = other;
  heap[j] = one;
}

function push(heap: Event[], event: Event): void {
  heap.push(event);
  for (let i = heap.length - 1; i > 0;) {
    const parent = (i - 1) >> 1;
    if (!isEarlier(heap[i], heap[parent])) return;
    swap(heap, i, parent);
    i = parent;
  }
}

function pop(heap: Event[]): Event | undefined {
  swap(heap, 0, heap.length - 1);
  const first = heap.pop();
  for (let i = 0; ;) {
    const left = 2 * i + 1;
    const child = isEarlier(heap[left + 1], heap[left]) ? left + 1 : left;
    if (!isEarlier(heap[child], heap[i]) || child >= heap.length) return first;
    swap(heap, i, child);
    i = child;
  }
}
