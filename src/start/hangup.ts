import { isatty } from "node:tty";

/**
 * SIGHUP: from a process manager it means "restart", from a closing terminal it means "end". After a terminal has closed,
 * stdin is no longer a TTY.
 */
export interface Hangup {
  /** Called at each SIGHUP except a closing terminal's, which counts as SIGTERM. */
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
