import type { VirtualTime } from "../virtual-time.ts";

/** How far a replica is: it confirms writes in their order, a little after they were made, and none while its link hangs. */
export interface Replica {
  /** How many writes it has. */
  readonly confirmed: number;
  wrote(position: number): void;
  /** Calls back once it has so many writes; never, where it took the primary's place without them. */
  whenConfirmed(position: number, run: () => void): void;
  setLink(isUp: boolean): void;
}

export function createReplica(time: VirtualTime, lagMs: () => number, confirmedBefore = 0): Replica {
  let confirmed = confirmedBefore;
  let written = confirmedBefore;
  let isLinkUp = true;
  let waiting: { position: number; run: () => void }[] = [];

  function confirm(position: number): void {
    if (!isLinkUp || position <= confirmed) return;
    confirmed = position;
    const due = waiting.filter((one) => one.position <= confirmed);
    waiting = waiting.filter((one) => one.position > confirmed);
    for (const { run } of due) run();
  }

  return {
    get confirmed() {
      return confirmed;
    },
    wrote(position) {
      written = position;
      time.after(lagMs(), () => confirm(position));
    },
    whenConfirmed(position, run) {
      if (position <= confirmed) run();
      else waiting.push({ position, run });
    },
    setLink(isUp) {
      isLinkUp = isUp;
      if (isUp) confirm(written);
    },
  };
}
