import type { World } from "./rules.ts";
import { messagesIn, serve } from "./store-steps.ts";
import { holderOf } from "./state.ts";
import type { State } from "./state.ts";

/** What holds in every state; null where all is well. What holds of every commit is in store-steps.ts. */
export function ruleBroken(state: State, world: World): string | null {
  return messagesBroken(state, world) ?? holdsBroken(state, world) ?? committersBroken(state, world);
}

/** Every thread is released, and nothing waits or runs: what was acknowledged has been answered. */
export function isAtRest({ shard }: State): boolean {
  return shard.threads.every(({ fence, run, queue }) => fence === null && run === null && queue.length === 0);
}

/** A failover excuses what it took back, and nothing else does; where replicas confirm, nothing is excused. */
function messagesBroken({ shard, clients }: State, { bounds }: World): string | null {
  const isExcusable = bounds.durability === "local";
  const stored = messagesIn(shard);
  const { acked, lost, told, undone } = clients;
  const isLost = (message: number) => !stored.includes(message) && !(isExcusable && lost.includes(message));
  if (acked.some(isLost)) return "an acknowledged message is lost";
  if (new Set(stored).size < stored.length) return "a message is in the store twice";
  const isToldTwice = told.some((times, message) => times > 1 + (isExcusable ? (undone[message] ?? 0) : 0));
  return isToldTwice ? "a client is told the end of a message twice" : null;
}

function holdsBroken({ shard }: State, world: World): string | null {
  for (const { fence, own } of shard.threads) {
    const isNoted = fence === null ? own.length === 0 : own.length === 1 && own[0] === fence;
    if (!isNoted) return "what a process holds is not noted for those who take it up";
    if (fence === null || !world.rules.lists) continue;
    if (shard.listed[holderOf(fence)] !== true) return "an owner is not on the list";
  }
  return null;
}

/** Of all who think that they hold a thread, at most one can save. */
function committersBroken({ shard, processes }: State, world: World): string | null {
  for (const thread of shard.threads.keys()) {
    const able = processes.filter(({ tasks }) =>
      tasks.some(
        (task) =>
          task.type === "live" &&
          task.request.thread === thread &&
          serve(shard, task.request, world.rules).shard !== shard,
      ),
    );
    if (able.length > 1) return "two processes can commit";
  }
  return null;
}
