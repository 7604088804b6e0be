/** A function that makes calls one after the other, in the order they were asked for. One may fail. */
export function inTurn(): <T>(call: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (call) => {
    const its = last.then(call);
    last = its.catch(() => {});
    return its;
  };
}
