import { shownName } from "../../../machines/person.ts";
import type { ThreadContext, ThreadEvent } from "../../../machines/thread.ts";
import { handOffOf } from "../../domain/threads/hand-off.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { BringEvent } from "./bring-event.ts";
import type { StopEvent } from "../say/stops.ts";
import { threadHost } from "../../charts/charts.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { createInTurn } from "./in-turn.ts";
import { claimOfItem, itemSaidBefore } from "./item-claim.ts";

/**
 * People who answer instead of the model (contract, A person takes over). An operator's request names the epoch that the
 * operator saw; if it is not the present one, nothing changes: Refusal("conflict").
 */
export interface People {
  /**
   * Does nothing if a person is already waited for or has the thread. Refusal("rate-limited") if the visitor waits in
   * MOST_WAITING other threads.
   */
  ask(asked: Asked): Promise<void>;
  /** Nothing changes unless the thread waits. */
  stopWaiting(thread: { uid: string; slug: string }): Promise<void>;
  /** From any state. Resolves to the new epoch. `shownAs`: what the visitor calls the operator; absent: by name. */
  take(taking: Acted & { shownAs?: string | undefined }): Promise<number>;
  /**
   * Puts a thread that waits for a person, or has one, into a queue: it waits anew. Resolves to the new epoch. Refusal("conflict") if
   * it does neither.
   */
  queue(queued: Acted & { queue: string }): Promise<number>;
  /** Resolves to the item's id. Repeating a `clientMessageId` adds nothing; with another text: Refusal("invalid"). */
  say(said: Acted & { text: string; clientMessageId: string | null }): Promise<string>;
  /** Resolves to the new epoch; the next run's model is told. */
  handBack(given: Acted & { how: "returned" | "closed"; note: string | null }): Promise<number>;
  /** Tells every open feed of the thread that a person is typing. */
  type(typing: { uid: string; name: string }): Promise<void>;
}

export interface Asked {
  uid: string;
  slug: string;
  /** A transport is trusted to ask for its users as often as they do. */
  by: { visitor: string } | "transport";
  reason: string | null;
  /** One of the channel's queues; absent: any operator. */
  queue?: string | undefined;
}

/**
 * In how many threads a visitor may wait for a person: operators would have to look at each of them. Counted among the
 * latest threads; instances count at the same time, so that each may let a few through.
 */
export const MOST_WAITING = 3;
const LATEST_THREADS = 100;
const RETRY_SECONDS = 60;

/** An operator's request on a thread. */
export interface Acted {
  uid: string;
  slug: string;
  /** The operator's name. */
  name: string;
  epoch: number;
}

export function createPeople({
  bring,
  store,
  clock,
  newId,
  handOff = () => handOffOf(undefined),
  tellTyping,
}: Pick<ThreadDependencies, "store" | "clock" | "newId" | "handOff"> & {
  bring: BringEvent;
  /** Tells all feeds of the thread, on every instance. */
  tellTyping: (uid: string, name: string) => Promise<void>;
}): People {
  const inTurn = createInTurn();

  function ask(asked: Asked): Promise<void> {
    const { uid, slug, by } = asked;
    if (by === "transport") return askFor(asked, by);
    return inTurn(`${slug} ${by.visitor}`, async () => {
      const page = { slug, userId: by.visitor, limit: LATEST_THREADS, after: null };
      const { items } = await store.listThreads(page);
      const waiting = items.filter(({ state }) => state === "waiting_for_person");
      if (waiting.length >= MOST_WAITING && !waiting.some((thread) => thread.uid === uid)) {
        throw new Refusal("rate-limited", "The visitor waits in other threads", RETRY_SECONDS);
      }
      await askFor(asked, "visitor");
    });
  }

  async function askFor({ uid, slug, reason, queue }: Asked, by: "visitor" | "transport"): Promise<void> {
    const { waitMs } = handOff(slug);
    const event: StopEvent = { type: "person.asked", by, reason, queue, waitMs, atMs: clock.now() };
    await bring(uid, {
      slug,
      judge: async ({ context }) => (context.person === null ? undefined : true),
      result: () => true,
      claim: () => ({ event }),
      forHolder: event,
    });
  }

  async function stopWaiting({ uid, slug }: Parameters<People["stopWaiting"]>[0]): Promise<void> {
    await bring(uid, {
      slug,
      judge: async ({ value }) => (value === "waiting_for_person" ? undefined : true),
      result: () => true,
      claim: () => ({ event: { type: "person.unasked", atMs: clock.now() } }),
      forHolder: null,
    });
  }

  function take({ uid, slug, name, epoch, shownAs }: Parameters<People["take"]>[0]): Promise<number> {
    const takeId = newId();
    const { answerMs } = handOff(slug);
    const atMs = clock.now();
    const event: StopEvent = { type: "person.took", name, shownAs, takeId, epoch, answerMs, atMs };
    return bring(uid, {
      slug,
      async judge({ context }) {
        if (context.person?.takeId === takeId) return context.epoch;
        if (context.epoch !== epoch) throw new Refusal("conflict", WRONG_EPOCH);
        return undefined;
      },
      result: () => epoch + 1,
      claim: () => ({ event }),
      forHolder: event,
    });
  }

  function queue({ uid, slug, epoch, queue: name }: Parameters<People["queue"]>[0]): Promise<number> {
    const { waitMs } = handOff(slug);
    return bring(uid, {
      slug,
      async judge({ context }) {
        const isPresent = context.epoch === epoch;
        if (isPresent && context.person !== null) return undefined;
        throw new Refusal("conflict", isPresent ? NOBODY_WAITS : WRONG_EPOCH);
      },
      result: () => epoch + 1,
      claim: () => ({ event: { type: "person.queued", queue: name, epoch, waitMs, atMs: clock.now() } }),
      forHolder: null,
    });
  }

  function say(said: Parameters<People["say"]>[0]): Promise<string> {
    const { uid, slug, name, epoch, text, clientMessageId } = said;
    const claim = clientMessageId === null ? null : claimOfItem(name, { clientMessageId, text });
    return bring(uid, {
      slug,
      async judge({ context }) {
        const known = await itemSaidBefore(store, uid, claim);
        if (known === undefined) mustHaveIt(context, said);
        return known;
      },
      result: ({ itemId }) => itemId,
      claim: () => ({
        event: { type: "person.said", name, epoch },
        text,
        ...(claim ? { claimsId: claim } : {}),
      }),
      forHolder: null,
    });
  }

  function handBack({ how, note, ...acted }: Parameters<People["handBack"]>[0]): Promise<number> {
    const { uid, slug, name, epoch } = acted;
    const event: ThreadEvent =
      how === "closed"
        ? { type: "person.closed", name, epoch, atMs: clock.now() }
        : { type: "person.returned", name, epoch, note, atMs: clock.now() };
    return bring(uid, {
      slug,
      async judge({ context }) {
        mustHaveIt(context, acted);
        return undefined;
      },
      result: () => epoch + 1,
      claim: () => ({ event }),
      forHolder: null,
    });
  }

  async function type({ uid, name }: Parameters<People["type"]>[0]): Promise<void> {
    const record = await store.load(uid, 1, "active");
    const context = record?.snapshot ? threadHost.thaw(record.snapshot, uid).context : null;
    if (context?.person?.name !== name) throw new Refusal("conflict", NOT_YOURS);
    await tellTyping(uid, shownName(context.person) ?? name);
  }

  return { ask, stopWaiting, take, queue, say, handBack, type };
}

const WRONG_EPOCH = "Somebody else was quicker: read the thread's epoch again";
const NOBODY_WAITS = "The thread neither waits for a person nor has one: take it first";
const NOT_YOURS = "You have not taken this thread";

function mustHaveIt(
  { person, epoch: present }: ThreadContext,
  { name, epoch }: Pick<Acted, "name" | "epoch">,
): void {
  if (person?.name !== name) throw new Refusal("conflict", NOT_YOURS);
  if (present !== epoch) throw new Refusal("conflict", WRONG_EPOCH);
}
