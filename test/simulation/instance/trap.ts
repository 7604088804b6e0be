/**
 * Lets something happen to a process at one of its store calls: when it is sent, when it was done, when its answer is
 * there. So deaths and pauses meet each step of the service, however short the time between two steps is.
 */
export interface Trap {
  set(at: { moment: Moment; nthWrite: number; spring: () => void }): void;
  met(moment: Moment, isWrite: boolean): void;
}

export type Moment = "sent" | "done" | "answered";

export function createTrap(): Trap {
  let armed: { moment: Moment; left: number; spring: () => void } | null = null;
  return {
    set({ moment, nthWrite, spring }) {
      armed = { moment, left: nthWrite, spring };
    },
    met(moment, isWrite) {
      if (!isWrite || armed?.moment !== moment) return;
      armed.left--;
      if (armed.left > 0) return;
      const { spring } = armed;
      armed = null;
      spring();
    },
  };
}
