/** A function that makes calls one after the other, as they were asked for: what is said last stays. One may fail. */
export function inOrder(): <T>(call: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (call) => {
    const its = last.then(call);
    last = its.catch(() => {});
    return its;
  };
}
