import type { JsonStorage } from "../../service/json-storage.ts";

/** How long after the visitor's last message the badge of a closed panel counts replies. */
const LATELY_MS = 3_600_000;

export function noteSpoken(storage: JsonStorage): void {
  storage.write("spoken", Date.now());
}

/** The visitor has sent a message recently, in any tab. */
export function spokenLately(storage: JsonStorage): boolean {
  const atMs = storage.read("spoken");
  return typeof atMs === "number" && Math.abs(Date.now() - atMs) < LATELY_MS;
}
