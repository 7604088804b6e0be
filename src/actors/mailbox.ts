/**
 * Runs tasks one at a time; later ones queue. A task that is synchronous is done before `post` returns: a delta costs
 * no promise.
 */
export interface Mailbox {
  /** Work must not throw and its promise must not reject: whoever posts handles its own faults. */
  post(work: () => void | Promise<void>): void;
}

export function createMailbox(): Mailbox {
  const waiting: (() => void | Promise<void>)[] = [];
  let busy = false;

  function drain(): void {
    for (let work = waiting.shift(); work; work = waiting.shift()) {
      const going = work();
      if (going) {
        void going.finally(drain);
        return;
      }
    }
    busy = false;
  }

  return {
    post(work) {
      waiting.push(work);
      if (busy) return;
      busy = true;
      drain();
    },
  };
}
