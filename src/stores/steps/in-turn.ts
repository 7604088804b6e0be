/**
 * Runs the calls under one name one after the other, in their order. Calls of one process that change the same field would
 * otherwise make each other's checks fail.
 */
export function inTurn(): <T>(name: string, call: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();

  return (name, call) => {
    const before = last.get(name);
    const mine = before ? before.then(call, call) : call();
    const ended = () => {
      if (last.get(name) === mine) last.delete(name);
    };
    last.set(name, mine);
    mine.then(ended, ended);
    return mine;
  };
}
