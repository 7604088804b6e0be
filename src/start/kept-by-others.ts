import type { Stats } from "node:fs";

/** Where stderr goes, as far as the process can tell. */
export interface StderrOf {
  isTerminal: boolean;
  pid: number;
  /** JOURNAL_STREAM: device and inode of the stream that systemd keeps. */
  journalStream: string | undefined;
  stat: () => Pick<Stats, "dev" | "ino">;
}

/**
 * Is stderr kept by a machine, and read by whoever reads logs? A container's first process writes into the container's log,
 * and a unit of systemd into the journal, unless somebody sits at a terminal.
 */
export function isKeptByOthers({ isTerminal, pid, journalStream, stat }: StderrOf): boolean {
  if (isTerminal) return false;
  if (pid === 1) return true;
  if (journalStream === undefined) return false;
  const { dev, ino } = stat();
  return journalStream === `${dev}:${ino}`;
}
