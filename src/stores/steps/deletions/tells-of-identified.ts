import { isObject } from "../../checks.ts";

/** True if the outbox event is a `user.identified` that names this user. */
export function tellsOfIdentified(text: string, userId: string): boolean {
  if (!text.includes(userId)) return false;
  const event = bodyOf(text);
  if (event?.["type"] !== "user.identified" || !isObject(event["data"])) return false;
  const { userId: account, mergedUserId } = event["data"];
  return account === userId || mergedUserId === userId;
}

/** The event, or its body if that is written already: `=ID`, a newline, and the body. */
function bodyOf(text: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(text.slice(text.indexOf("\n") + 1));
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}
