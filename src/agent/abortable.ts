/** The promise, or a rejection with the signal's reason as soon as it is aborted. The awaited work itself continues. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // If the signal wins, nobody awaits the promise any more: its rejection must not count as unhandled.
  promise.catch(() => {});
  signal.throwIfAborted();
  const { promise: aborted, stop } = rejectionOn(signal);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stop();
  }
}

function rejectionOn(signal: AbortSignal): { promise: Promise<never>; stop: () => void } {
  let abort = () => {};
  const promise = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  return { promise, stop: () => signal.removeEventListener("abort", abort) };
}
