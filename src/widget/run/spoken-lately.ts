import type { JsonStorage } from "../service/json-storage.ts";

/** So long after the visitor's last message a closed panel tells of what comes. */
const LATELY_MS = 3_600_000;

export function noteSpoken(storage: JsonStorage): void {
  storage.write("spoken", Date.now());
}

/** The visitor has said something not long ago, in any tab. */
export function spokenLately(storage: JsonStorage): boolean {
  const atMs = storage.read("spoken");
  return typeof atMs === "number" && Math.abs(Date.now() - atMs) < LATELY_MS;
}
