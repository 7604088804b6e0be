import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { Member } from "./processes/member.ts";

/** Functions that close what a start opened; the last opened is closed first. */
export type Closing = (() => unknown)[];

/** The parameters of each step of a start. */
export interface Starting {
  config: Config;
  log: Log;
  /** How many lines of the log could not be written so far. */
  lostLines: () => number;
  /** null: this process serves alone, without others on its port. */
  member: Member | null;
  /** A step that opens something adds how to close it. */
  closing: Closing;
}
