import { isObject } from "./checks.ts";

/** Is that event of the outbox a `user.identified` in which this user is named? */
export function tellsOfIdentified(text: string, userId: string): boolean {
  if (!text.includes(userId)) return false;
  const event = bodyOf(text);
  if (event?.["type"] !== "user.identified" || !isObject(event["data"])) return false;
  const { userId: account, mergedUserId } = event["data"];
  return account === userId || mergedUserId === userId;
}

/** Of an event whose body is written already: `=ID`, a line's end, and the body. */
function bodyOf(text: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(text.slice(text.indexOf("\n") + 1));
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}
