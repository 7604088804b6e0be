import type { Line } from "../../machines/line.ts";

/**
 * One open stream, as its reader sees it: lines, the last of which is terminal.
 * What was said before somebody reads is kept and given at once.
 */
export interface Reply {
  /** The run that this stream tells of. */
  readonly runId: string;
  /** One reader. `take` is given one or more lines at a time; nothing comes after a terminal one. */
  read(take: (lines: Line[]) => void): void;
  /** The reader is gone; the run goes on. */
  leave(): void;
}
