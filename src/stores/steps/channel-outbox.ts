import type { SealedEvent, SealedTelling } from "../../store/outbox.ts";
import type { Write } from "../engine.ts";
import { tables } from "../tables.ts";

/** Stores events of no thread for webhooks: their bodies, and that they are not queued yet. */
export function writesOfTellings(slug: string, tells: readonly SealedTelling[]): Write[] {
  if (tells.length === 0) return [];
  const events = tells.map((telling) => ({ telling, name: `${telling.id} ${telling.endpoint}` }));
  return [
    {
      write: "set",
      key: tables.channelOutbox.key(slug),
      fields: events.map(({ telling, name }) => [name, sealedText(telling)]),
    },
    {
      write: "put",
      key: tables.channelUnqueued.key(slug),
      members: events.map(({ telling, name }) => [`${slug} - ${name}`, telling.atMs]),
    },
  ];
}

/** An event with the body to send, as it is stored. */
export function sealedText({ id, body }: SealedEvent): string {
  return `=${id}\n${body}`;
}
