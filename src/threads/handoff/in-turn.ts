/** Runs the works of one key one after the other, in the order of the calls; those of different keys at the same time. */
export type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export function createInTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>();

  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const going = before.then(work, work);
    last.set(key, going);
    const forget = () => {
      if (last.get(key) === going) last.delete(key);
    };
    going.then(forget, forget);
    return going;
  };
}
