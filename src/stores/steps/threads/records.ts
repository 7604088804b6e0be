import { hash } from "node:crypto";
import type { Catalog, Message } from "../../../domain/threads/message.ts";
import { openedMessage } from "../../content-keys/sealed-records.ts";
import type { Open } from "../../content-keys/sealed-records.ts";
import type { Entry } from "../../engine.ts";
import { jsonValue } from "../../records/json-value.ts";
import { readCatalog, readMessage } from "../../records/records.ts";
import type { KnownMessages } from "../../sealing.ts";

/** A thread's catalog; empty if it has none. */
export function catalogFrom(json: string | null | undefined, uid: string): Catalog {
  return json ? readCatalog(jsonValue(json), uid) : [];
}

/** Tells the catalogs of one thread apart. */
export function catalogIdOf(catalog: Catalog): string {
  return hash("sha256", JSON.stringify(catalog)).slice(0, 16);
}

/** Without those that were set aside. */
export function messagesFrom(
  entries: readonly Entry[],
  uid: string,
  open: Open,
  known: KnownMessages,
): Message[] {
  const messages: Message[] = [];
  for (const [number, json] of entries) {
    const message = messageFrom(number, json, { uid, open, known });
    if (!message.aside) messages.push(message);
  }
  return messages;
}

function messageFrom(
  number: number,
  json: string,
  { uid, open, known }: { uid: string; open: Open; known: KnownMessages },
): Message {
  const stored = readMessage(jsonValue(known.get(number, json) ?? json), uid);
  const message = openedMessage(stored, open);
  // Read again with each message that follows it.
  if (message !== stored) known.set(number, { stored: json, opened: JSON.stringify(message) });
  return message;
}
