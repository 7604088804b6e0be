import { setTimeout as pause } from "node:timers/promises";
import { messageOf } from "../../errors.ts";
import type { PlainLog } from "../../log.ts";
import type { ServiceProcess, Told } from "./process.ts";

/** A process that has listened for this long did not die because of its start. */
const STEADY_MS = 10_000;
/** The waits before the second, third … try. If the try after the last wait fails, the seat gives up. */
const BACK_OFF_MS = [100, 500, 2_000, 5_000];

/** The parts of a process that its seat needs. */
export type Seated = Pick<
  ServiceProcess,
  "number" | "listening" | "listeningSinceMs" | "ended" | "isLeaving" | "leave"
>;

export interface SeatDependencies {
  open(): Seated;
  log: PlainLog;
  stopping: AbortSignal;
  /** Called when processes of this seat keep dying at once; the message is one line for people. */
  onGivenUp: (error: Error) => void;
  backOffMs?: readonly number[];
}

/** The place of one process: starts it, replaces it when it dies, and renews it on a restart. */
export class Seat {
  readonly #dependencies: SeatDependencies;
  #current: Seated | null = null;
  #deaths = 0;
  /** Runs a replacement and a restart one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(dependencies: SeatDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts a process, and replaces it from then on whenever it dies. Rejects if the first one fails to listen. */
  async fill(): Promise<Told> {
    const process = this.#dependencies.open();
    const told = await process.listening;
    this.#current = process;
    void process.ended.then((how) => {
      if (!process.isLeaving) void this.#inTurn(() => this.#replace(process, how));
    });
    return told;
  }

  /** Replaces the running process; it leaves only when its replacement listens. */
  renew(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#dependencies.stopping.aborted) return;
      const before = this.#current;
      await this.fill();
      before?.leave("retire");
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  async #replace(dead: Seated, how: string): Promise<void> {
    const { log, stopping, onGivenUp, backOffMs = BACK_OFF_MS } = this.#dependencies;
    // A restart has already replaced it.
    if (this.#current !== dead) return;
    this.#current = null;
    if (performance.now() - (dead.listeningSinceMs ?? Infinity) >= STEADY_MS) this.#deaths = 0;

    for (let reason = how; !stopping.aborted;) {
      const waitMs = backOffMs[this.#deaths++];
      if (waitMs === undefined) {
        onGivenUp(
          new Error(
            `Cannot keep a process running: it ended ${this.#deaths} times in a row, at last: ${reason}`,
          ),
        );
        return;
      }
      log.error({ ended: dead.number, reason, waitMs }, "A process ended by itself: another takes its place");
      await pause(waitMs, undefined, { signal: stopping }).catch(() => {});
      if (stopping.aborted) return;
      try {
        await this.fill();
        return;
      } catch (error) {
        reason = messageOf(error);
      }
    }
  }
}
