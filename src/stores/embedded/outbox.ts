import type { Telling } from "../../domain/webhook.ts";
import { DELIVERIES_KEPT } from "../../store/outbox.ts";
import type {
  Delivery,
  OutboxStore,
  QueuedEvent,
  SealedEvent,
  SealedTelling,
  StoredEvent,
  ToldRef,
} from "../../store/outbox.ts";
import { isNumber, isText, kindOf, nullable, shape } from "../checks.ts";
import { deliveryKind } from "../deliveries.ts";
import { readNumber, readText } from "../records.ts";
import { tellsOfIdentified } from "../told-users.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";

/** An event in its endpoint's queue. */
interface QueueRecord {
  uid: string | null;
  nth: string;
  attempts: number;
}

interface EndpointRecord {
  endpoint: string;
  /** The place of the newest event. */
  last: number;
  offSinceMs: number | null;
}

export const queuedKind = kindOf(
  "queued event",
  shape<QueueRecord>({ uid: nullable(isText), nth: isText, attempts: isNumber }),
);
export const endpointKind = kindOf(
  "webhook",
  shape<EndpointRecord>({ endpoint: isText, last: isNumber, offSinceMs: nullable(isNumber) }),
);

/** Places in a queue: order numbers, then times of retries, then events that were given up. */
const FIRST_TIME = 1e12;
const GIVEN_UP = 9e15;

/** Within a change: events are stored and queued in the same one. */
export function outboxRecords(db: EmbeddedDb) {
  const textKey = ({ slug, uid, nth, endpoint }: ToldRef): Key =>
    uid === null
      ? ["outc", keyPart(slug), keyPart(nth), endpoint]
      : ["out", keyPart(uid), Number(nth), endpoint];
  const stateKey = (slug: string, endpoint: string): Key => ["ws", keyPart(slug), endpoint];
  const queueKey = ({ slug, endpoint, uid, nth }: ToldRef, place: number): Key => [
    "wq",
    keyPart(slug),
    endpoint,
    place,
    uid === null ? "-" : keyPart(uid),
    keyPart(nth),
  ];
  const placeKey = ({ slug, endpoint, uid, nth }: ToldRef): Key => [
    "wp",
    keyPart(slug),
    endpoint,
    uid === null ? "-" : keyPart(uid),
    keyPart(nth),
  ];

  const state = (slug: string, endpoint: string): EndpointRecord =>
    db.get(stateKey(slug, endpoint), endpointKind.read) ?? { endpoint, last: 0, offSinceMs: null };
  const putState = (slug: string, record: EndpointRecord) =>
    db.put(stateKey(slug, record.endpoint), endpointKind.stored(record));
  const place = (ref: ToldRef) => db.get(placeKey(ref), readNumber);

  function move(ref: ToldRef, to: number | null, attempts: number): void {
    const before = place(ref);
    if (before !== undefined) db.remove(queueKey(ref, before));
    if (to === null) return db.remove(placeKey(ref));
    const { uid, nth } = ref;
    db.put(queueKey(ref, to), queuedKind.stored({ uid, nth, attempts }));
    db.put(placeKey(ref), to);
  }

  function append(ref: ToldRef, text: string): void {
    const { slug, endpoint } = ref;
    db.put(textKey(ref), text);
    if (place(ref) !== undefined) return;
    const known = state(slug, endpoint);
    putState(slug, { ...known, last: known.last + 1 });
    move(ref, known.last + 1, 0);
  }

  return {
    state,
    putState,
    move,
    place,
    text: (ref: ToldRef) => db.get(textKey(ref), readText),
    putText: (ref: ToldRef, text: string) => db.put(textKey(ref), text),
    removeText: (ref: ToldRef) => db.remove(textKey(ref)),

    /** Stores the events of a commit; `told`: how many the thread had before. */
    tell(thread: { slug: string; uid: string; told: number }, tells: readonly Telling[]): ToldRef[] {
      const { slug, uid, told } = thread;
      return tells.flatMap(({ event, endpoints }, i) =>
        endpoints.map((endpoint) => {
          const ref = { slug, endpoint, uid, nth: String(told + i + 1) };
          append(ref, JSON.stringify(event));
          return ref;
        }),
      );
    },

    /** Stores events that belong to no thread: of users, and of deletions. */
    tellSealed(slug: string, tells: readonly SealedTelling[]): void {
      for (const { endpoint, id, body } of tells) {
        append({ slug, endpoint, uid: null, nth: id }, sealedText({ id, body }));
      }
    },

    /**
     * Removes the undelivered `user.identified` events of a deleted user; `user.deleted` stays. References to them
     * are dropped on delivery.
     */
    dropToldOf(slug: string, userId: string): void {
      const texts = [...db.range(["outc", keyPart(slug)], readText)];
      for (const { key, value } of texts) if (tellsOfIdentified(value, userId)) db.remove(key);
    },

    /** A thread's event from a backup. */
    append,

    last: (slug: string, endpoint: string, limit: number): QueuedEvent[] =>
      [...db.range(["wq", keyPart(slug), endpoint], queuedKind.read, { reverse: true, limit })].map(
        ({ key, value }) => ({ slug, endpoint, ...value, dueMs: dueOf(Number(key[3])) }),
      ),

    /** The failed event, not given up, with the latest retry: it failed most often, or nearly so. */
    lastFailed(slug: string, endpoint: string): QueuedEvent | undefined {
      const prefix: Key = ["wq", keyPart(slug), endpoint];
      const from: Key = [...prefix, GIVEN_UP - 1];
      const [last] = db.range(prefix, queuedKind.read, { from, reverse: true, limit: 1 });
      return last && { slug, endpoint, ...last.value, dueMs: dueOf(Number(last.key[3])) };
    },

    *queued(
      slug: string,
      endpoint: string,
      from: number,
      to: number,
      limit: number,
    ): Iterable<QueuedEvent & { place: number }> {
      const prefix: Key = ["wq", keyPart(slug), endpoint];
      const found = db.range(prefix, queuedKind.read, { from: [...prefix, from], limit });
      for (const { key, value } of found) {
        const at = Number(key[3]);
        if (at > to) return;
        yield { slug, endpoint, ...value, dueMs: dueOf(at), place: at };
      }
    },
  };
}

/**
 * Events for webhooks on one machine: only this process delivers, so nothing waits to be queued, and a lease always
 * succeeds.
 */
export function embeddedOutbox(db: EmbeddedDb, toldBy: (uid: string) => number): OutboxStore {
  const records = outboxRecords(db);
  const deliveriesOf = (slug: string, endpoint: string): Key => ["wd", keyPart(slug), endpoint];

  function keepDelivery({ slug, endpoint }: ToldRef, delivery: Delivery): void {
    const prefix = deliveriesOf(slug, endpoint);
    const { atMs, id, attempt } = delivery;
    db.put([...prefix, atMs, id, attempt], deliveryKind.stored(delivery));
    const newest = db.range(prefix, (value) => value, { reverse: true, limit: DELIVERIES_KEPT + 10 });
    for (const { key } of [...newest].slice(DELIVERIES_KEPT)) db.remove(key);
  }

  /** `place`: counts only the events there. */
  function countOf(slug: string, endpoint: string, place?: number): number {
    const at = db.snapshot();
    try {
      return at.count(["wq", keyPart(slug), endpoint, ...(place === undefined ? [] : [place])]);
    } finally {
      at.close();
    }
  }

  return {
    unqueued: () => Promise.resolve([]),
    queue: () => Promise.resolve(),
    lease: () => Promise.resolve(true),
    release: () => Promise.resolve(),

    told: (uid) => db.read("count what webhooks were told", () => toldBy(uid)),

    due: (slug, endpoint, { nowMs, limit }) =>
      db.read("read what webhooks are told", () =>
        [
          ...records.queued(slug, endpoint, 0, FIRST_TIME, limit),
          ...records.queued(slug, endpoint, FIRST_TIME + 1, nowMs, limit),
        ].map(({ place: _, ...event }) => event),
      ),

    nextDueMs: (slug, endpoint) =>
      db.read("look what webhooks are told next", () => {
        if (records.state(slug, endpoint).offSinceMs !== null) return null;
        const [first] = records.queued(slug, endpoint, 0, Infinity, 1);
        return first?.dueMs ?? null;
      }),

    event: (ref) =>
      db.read("read what a webhook is told", () => {
        const text = records.text(ref);
        return text === undefined ? null : storedFrom(text);
      }),

    seal: (ref, sealed) =>
      db.change("keep what a webhook is told", () => {
        const text = records.text(ref);
        if (text === undefined) return null;
        const stored = storedFrom(text);
        if (stored.type === "sealed") return stored;
        records.putText(ref, sealedText(sealed));
        return sealed;
      }),

    settled: (ref, delivery) =>
      db.change("forget what a webhook was told", () => {
        records.removeText(ref);
        records.move(ref, null, 0);
        if (delivery) keepDelivery(ref, delivery);
      }),

    failed: (ref, { attempts, dueMs }, delivery) =>
      db.change("tell a webhook later", () => {
        keepDelivery(ref, delivery);
        if (records.place(ref) !== undefined) records.move(ref, dueMs ?? GIVEN_UP, attempts);
      }),

    switchEndpoint: (slug, endpoint, offSinceMs) =>
      db.change("switch a webhook", () =>
        records.putState(slug, { ...records.state(slug, endpoint), offSinceMs }),
      ),

    endpoint: (slug, endpoint) =>
      db.read("look at a webhook", () => ({
        waiting: countOf(slug, endpoint),
        offSinceMs: records.state(slug, endpoint).offSinceMs,
        deliveries: [
          ...db.range(deliveriesOf(slug, endpoint), deliveryKind.read, {
            reverse: true,
            limit: DELIVERIES_KEPT,
          }),
        ].map(({ value }) => value),
      })),

    level: (slug, endpoint) =>
      db.read("count what waits for a webhook", () => {
        const [fresh] = records.queued(slug, endpoint, 0, FIRST_TIME, 1);
        const failed = records.lastFailed(slug, endpoint);
        return {
          waiting: countOf(slug, endpoint) - countOf(slug, endpoint, GIVEN_UP),
          oldest: [fresh, failed].filter((event) => event !== undefined),
          isOff: records.state(slug, endpoint).offSinceMs !== null,
        };
      }),

    endpoints: (slug) =>
      db.read("list webhooks", () =>
        [...db.range(["ws", keyPart(slug)], endpointKind.read)].map(({ value }) => value.endpoint),
      ),

    forgetEndpoint: (slug, endpoint) =>
      db.change("forget a webhook", () => {
        db.remove(["ws", keyPart(slug), endpoint]);
        const tries = [...db.range(deliveriesOf(slug, endpoint), (value) => value)];
        for (const { key } of tries) db.remove(key);
      }),

    replay: (slug, endpoint) =>
      db.change("tell a webhook again", () => {
        const failed = [...records.queued(slug, endpoint, FIRST_TIME + 1, Infinity, Infinity)];
        const known = records.state(slug, endpoint);
        for (const [i, event] of failed.entries()) records.move(event, known.last + i + 1, event.attempts);
        records.putState(slug, { ...known, last: known.last + failed.length });
        return failed.length;
      }),

    longestWaiting: (slug, endpoint, limit) =>
      db.read("list what a webhook is to be told", () => records.last(slug, endpoint, limit)),
  };
}

function dueOf(place: number): number | null {
  if (place <= FIRST_TIME) return 0;
  return place >= GIVEN_UP ? null : place;
}

function sealedText({ id, body }: SealedEvent): string {
  return `=${id}\n${body}`;
}

function storedFrom(text: string): StoredEvent {
  if (!text.startsWith("=")) return { type: "told", text };
  const end = text.indexOf("\n");
  return { type: "sealed", id: text.slice(1, end), body: text.slice(end + 1) };
}
