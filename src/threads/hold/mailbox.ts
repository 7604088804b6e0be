/**
 * Runs tasks one at a time; later ones queue. With an empty queue a synchronous task is done before `post` returns, so
 * a delta costs no promise. A task that throws or rejects is reported to `onFault`, and the next one runs.
 */
export interface Mailbox {
  post: (task: () => void | Promise<void>) => void;
}

export function createMailbox(onFault: (error: unknown) => void): Mailbox {
  const waiting: (() => void | Promise<void>)[] = [];
  let busy = false;

  function drain(): void {
    for (let task = waiting.shift(); task; task = waiting.shift()) {
      const going = begin(task);
      if (going) {
        void going.catch(onFault).finally(drain);
        return;
      }
    }
    busy = false;
  }

  function begin(task: () => void | Promise<void>): void | Promise<void> {
    try {
      return task();
    } catch (error) {
      onFault(error);
    }
  }

  return {
    post(task) {
      waiting.push(task);
      if (busy) return;
      busy = true;
      drain();
    },
  };
}
