/** Anything may be thrown; these functions read it without trusting its type. */

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `ENOENT`, `EADDRINUSE`: the code of a system error; null if it has none. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
