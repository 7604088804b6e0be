import { holderOf } from "./state.ts";
import type { Process, Request, State, Task } from "./state.ts";

/** What can be said of processes, tasks and requests without the names that they go by, to put them into one order. */

/** Sorted by what can be said of each without a name; where that is the same of some, in each of their orders. */
export function processOrders(state: State): number[][] {
  const marks = state.processes.map((one, process) => {
    const holds = state.shard.threads.map(({ fence }) => fence !== null && holderOf(fence) === process);
    const bits = [
      (state.beats[process] ?? 0) > 0,
      state.shard.listed[process] === true,
      (state.shard.bars[process] ?? 0) > 0,
      ...holds,
    ];
    return signOfProcess(one) + String.fromCharCode(bits.reduce((sum, bit) => sum * 2 + (bit ? 1 : 0), 32));
  });
  const markOf = (process: number) => marks[process] ?? "";
  const sorted = [...marks.keys()].sort((a, b) => compare(markOf(a), markOf(b)));
  return ordersOf(sorted, (a, b) => markOf(a) === markOf(b));
}

/** A sorted list in all orders that are sorted as well. */
function ordersOf<Item>(sorted: Item[], areAlike: (a: Item, b: Item) => boolean): Item[][] {
  const [first, ...rest] = sorted;
  if (first === undefined) return [[]];
  const alike = rest.findIndex((one) => !areAlike(first, one));
  const last = alike < 0 ? rest.length : alike;
  if (last === 0) return ordersOf(rest, areAlike).map((order) => [first, ...order]);
  return sorted.slice(0, last + 1).flatMap((head) =>
    ordersOf(
      sorted.filter((one) => one !== head),
      areAlike,
    ).map((order) => [head, ...order]),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Records are never changed, and shared by many states: what was said of one once is remembered. */
function remembered<Record extends object>(say: (record: Record) => string): (record: Record) => string {
  const said = new WeakMap<Record, string>();
  return (record) => {
    const known = said.get(record);
    if (known !== undefined) return known;
    const sign = say(record);
    said.set(record, sign);
    return sign;
  };
}

const signOfProcess = remembered(({ status, paused, tasks }: Process) =>
  [`${status}${paused}`, ...tasks.map((task) => signOf(task)).sort()].join("|"),
);

export const signOfRequest = remembered((request: Request) => {
  if (request.type === "wait") return `wait${request.message}`;
  const { why, thread, rev, run } = request;
  return `${why}${thread}${rev}${run?.message}${run?.phase}`;
});

/** What can be said of a task without a fence's name. */
export const signOf = remembered(newSign);

function newSign(task: Task): string {
  switch (task.type) {
    case "sweep":
      return `sweep${task.stage}`;
    case "watch":
      return `watch${task.thread}${task.message}`;
    case "ask":
    case "live":
      return `${task.type}${signOfRequest(task.request)}`;
  }
}

export function sorted<Item>(list: readonly Item[], sign: (item: Item) => string): readonly Item[] {
  return list.length < 2 ? list : list.toSorted((a, b) => compare(sign(a), sign(b)));
}
