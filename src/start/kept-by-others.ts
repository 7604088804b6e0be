import type { Stats } from "node:fs";

/** What the process knows about where its stderr goes. */
export interface StderrOf {
  isTerminal: boolean;
  pid: number;
  /** JOURNAL_STREAM: device and inode of the stream that systemd keeps. */
  journalStream: string | undefined;
  stat: () => Pick<Stats, "dev" | "ino">;
}

/**
 * Does stderr go into a stored log, which others can read? A container's first process writes into the container's log,
 * and a unit of systemd into the journal, unless stderr is a terminal.
 */
export function isKeptByOthers({ isTerminal, pid, journalStream, stat }: StderrOf): boolean {
  if (isTerminal) return false;
  if (pid === 1) return true;
  if (journalStream === undefined) return false;
  const { dev, ino } = stat();
  return journalStream === `${dev}:${ino}`;
}
