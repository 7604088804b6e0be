import type { ErrorLine } from "../../../machines/line.ts";
import { Refusal } from "../../domain/refusal.ts";

/** Ends a stream whose thread was deleted (contract, Forgetting). */
export const DELETED: ErrorLine = {
  type: "error",
  code: "deleted",
  message: "This conversation was deleted",
};

/** A request that arrives during the deletion gets the same answer as one that comes later. */
export function refuseDeleted(): Refusal {
  return new Refusal("not-found", "Unknown thread");
}
