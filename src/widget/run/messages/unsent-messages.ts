import type { JsonStorage } from "../../service/json-storage.ts";
import { isOutgoingMessage } from "./outgoing-message.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";

/**
 * Messages that are shown as not sent, oldest first. They are in storage shared by all tabs of the origin, also after a
 * reload: Retry repeats the same id, so it may be pressed in any tab, any number of times.
 */
export function unsentMessages(storage: JsonStorage): OutgoingMessage[] {
  const value = storage.read("unsent");
  return Array.isArray(value) ? value.filter(isOutgoingMessage) : [];
}

export function keepUnsent(storage: JsonStorage, message: OutgoingMessage): void {
  storage.write("unsent", [...others(storage, message), message]);
}

/** Call when the service has stored the message, or has refused it for good. */
export function dropUnsent(storage: JsonStorage, message: Pick<OutgoingMessage, "clientMessageId">): void {
  const left = others(storage, message);
  if (left.length < unsentMessages(storage).length) storage.write("unsent", left);
}

export function dropAllUnsent(storage: JsonStorage): void {
  storage.write("unsent", null);
}

function others(
  storage: JsonStorage,
  { clientMessageId }: Pick<OutgoingMessage, "clientMessageId">,
): OutgoingMessage[] {
  return unsentMessages(storage).filter((message) => message.clientMessageId !== clientMessageId);
}
