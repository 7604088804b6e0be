/**
 * Work for the end of the current turn of the event loop, in one immediate.
 * Two promises of the listener depend on it: no answer leaves in the tick in which its request was parsed, and everything
 * written to a stream in one tick leaves in one write.
 */
let waiting: (() => void)[] = [];

/** Runs the callback after the current tick, in order. It must not throw. */
export function afterTick(callback: () => void): void {
  if (waiting.length === 0) setImmediate(runWaiting);
  waiting.push(callback);
}

function runWaiting(): void {
  const callbacks = waiting;
  waiting = [];
  for (const callback of callbacks) callback();
}
