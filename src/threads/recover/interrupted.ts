import type { ErrorLine } from "../../../machines/line.ts";

/**
 * Ends a stream whose run goes on elsewhere; re-attach to follow it (contract, A process that dies mid-run). Each error line
 * that is no end of its run has this code.
 */
export const INTERRUPTED: ErrorLine = {
  type: "error",
  code: "interrupted",
  message: "This stream was interrupted; the run goes on",
};
