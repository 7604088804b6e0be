import { isatty } from "node:tty";

/**
 * SIGHUP: who runs a service means "start anew" by it, and a terminal that closes means "end". A terminal that is gone is
 * no terminal any more.
 */
export interface Hangup {
  /** Called at each SIGHUP but a closing terminal's, which counts as SIGTERM. */
  onAsked(callback: () => void): void;
  stop(): void;
}

const STDIN = 0;

export function watchForHangup(): Hangup {
  const hadTerminal = isatty(STDIN);
  let asked = () => {};
  const receive = () => {
    if (hadTerminal && !isatty(STDIN)) process.kill(process.pid, "SIGTERM");
    else asked();
  };
  process.on("SIGHUP", receive);
  return {
    onAsked: (callback) => void (asked = callback),
    stop: () => void process.off("SIGHUP", receive),
  };
}
