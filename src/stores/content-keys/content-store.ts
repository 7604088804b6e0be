import type { Clock } from "../../clock.ts";
import { wholeMessage, wholeRun } from "../../domain/kept-text.ts";
import { hashOf } from "../../domain/message-claim.ts";
import type { MessageClaim } from "../../domain/message-claim.ts";
import { isSameFeedback } from "../../domain/feedback.ts";
import type { Feedback, Message, RunRecord } from "../../domain/message.ts";
import { NewerRecord, StoreUnavailable, UnreadableRecord } from "../../store.ts";
import type { CommitResult, Rating, SaidBefore, Store, ThreadCommit, ThreadRecord } from "../../store.ts";
import { boundedCache } from "./bounded-cache.ts";
import { openedOutbox } from "./opened-outbox.ts";
import { openedSalvage } from "./salvage.ts";
import { sealedOf } from "./snapshot.ts";
import { opening, sealing } from "./thread-contents.ts";
import { createUserKeys } from "./user-keys.ts";
import type { UserKeys } from "./user-keys.ts";
import type { Wrapping } from "./wrapping.ts";

/** Prefix of a sealed part of a reply: no model writes it. */
const PART = "\u0000";

/** Threads whose channel is cached: the uid alone does not tell which user's key is needed. */
const MOST_CHANNELS = 20_000;
const CHANNEL_KEPT_MS = 86_400_000;

/**
 * A store whose contents are encrypted at rest: writes are sealed before the implementation gets them, reads are
 * opened, and plain texts from before are read as they are. Without keys nothing is sealed, and sealed texts are
 * refused.
 */
export function contentStore(
  store: Store,
  {
    wrapping,
    clock,
    keys = createUserKeys(store, { wrapping, clock }),
  }: { wrapping: Wrapping; clock: Clock; keys?: UserKeys },
): Store {
  const slugs = boundedCache<string>({ most: MOST_CHANNELS, keptMs: CHANNEL_KEPT_MS, clock });
  const seals = wrapping.first !== null;
  /** A commit that is repeated must be the same, byte for byte: the store compares it. */
  const sealedCommits = new WeakMap<ThreadCommit, ThreadCommit>();
  const sealedRatings = new WeakMap<Rating, Rating>();

  /** Null: the thread has no record, or was deleted. */
  async function slugOf(uid: string): Promise<string | null> {
    const known = slugs.get(uid) ?? (await store.load(uid, 0, "active"))?.slug ?? null;
    if (known !== null) slugs.set(uid, known);
    return known;
  }

  /** Null: nothing is encrypted, or the thread was deleted and stores nothing. */
  async function sealerOf(uid: string, { slug, userId = null }: { slug: string; userId?: string | null }) {
    if (!seals) return null;
    try {
      const key = await keys.keyFor({ uid, slug, userId });
      return key && sealing(uid, key, keys);
    } catch (error) {
      // The store itself refuses a write to a deleted thread.
      if (error instanceof StoreUnavailable && (await store.look(uid, null)).isDeleted) return null;
      throw error;
    }
  }

  async function sealedCommit(commit: ThreadCommit): Promise<ThreadCommit> {
    const known = sealedCommits.get(commit);
    if (known) return known;
    const { uid, slug, run, orWait } = commit;
    const userId = orWait?.message.userId ?? run?.userId ?? null;
    const sealed = (await sealerOf(uid, { slug, userId }))?.commit(commit) ?? commit;
    sealedCommits.set(commit, sealed);
    return sealed;
  }

  /** Reads the parts one by one: each says whether it is sealed. */
  async function textOfParts(uid: string, runId: string, parts: number, from = 0): Promise<string> {
    const each = Array.from({ length: Math.max(parts - from, 0) }, async (_, at) => {
      const nth = from + at;
      const stored = await store.keptText(uid, runId, nth + 1, nth);
      if (!stored.startsWith(PART)) return stored;
      return opening(uid, keys).openAt(stored.slice(PART.length), "reply", "part", `${runId} ${nth}`);
    });
    return (await Promise.all(each)).join("");
  }

  async function openMessages(uid: string, messages: Message[], isWhole: boolean): Promise<Message[]> {
    if (!messages.some(isSealedMessage)) return messages;
    const { message } = opening(uid, keys);
    return Promise.all(
      messages.map(async (stored) => {
        const opened = await message(stored);
        const { kept, runId } = opened;
        if (!isWhole || !kept || stored.sealed === undefined) return opened;
        return wholeMessage(opened, await textOfParts(uid, runId, kept.parts));
      }),
    );
  }

  async function openRun(uid: string, stored: RunRecord | null, isWhole: boolean): Promise<RunRecord | null> {
    if (stored?.sealed === undefined) return stored;
    const opened = await opening(uid, keys).run(stored);
    const { kept, runId } = opened;
    return isWhole && kept ? wholeRun(opened, await textOfParts(uid, runId, kept.parts)) : opened;
  }

  async function feedbackOf(uid: string, messageId: string): Promise<Feedback | null> {
    const place = Number(messageId);
    if (!(place >= 1)) return null;
    const [message] = (await store.look(uid, place - 1)).messages;
    if (message?.id !== messageId || !message.feedback) return null;
    return opening(uid, keys).feedback(message.feedback, messageId);
  }

  /** A sealed hash is never the same twice, so the earlier claim is read and opened to compare it. */
  async function compared(uid: string, said: SaidBefore, claim: MessageClaim | null): Promise<SaidBefore> {
    if (said.isSameText || !claim) return said;
    const known = await claimed(uid, claim.clientMessageId);
    if (!known) throw new StoreUnavailable("look for a message", { fact: "what is read is behind" });
    return { ...said, isSameText: known.textHash === claim.textHash };
  }

  async function claimed(uid: string, clientMessageId: string): Promise<MessageClaim | null> {
    const known = await store.claimed(uid, clientMessageId);
    if (!known) return null;
    return { ...known, textHash: await opening(uid, keys).claimHash(known.textHash, clientMessageId) };
  }

  async function openedCommit({ uid, orWait, claimsId }: ThreadCommit, result: CommitResult) {
    if (result.type === "said-before") {
      const claim = orWait ? plainClaim(orWait.message) : (claimsId ?? null);
      return compared(uid, result, claim);
    }
    if (result.type !== "committed" || !result.next) return result;
    try {
      return { ...result, next: await opening(uid, keys).userMessage(result.next) };
    } catch (error) {
      // The commit is done, even if the next waiting message is unreadable.
      if (!(error instanceof UnreadableRecord)) throw error;
      return { ...result, next: null, unreadableNext: error };
    }
  }

  async function withSnapshot<Item extends { uid: string; snapshot?: string }>(item: Item): Promise<Item> {
    if (item.snapshot === undefined) return item;
    try {
      return { ...item, snapshot: await opening(item.uid, keys).snapshot(item.snapshot) };
    } catch (error) {
      // One unreadable thread does not fail a list; reading that thread reports it.
      if (!(error instanceof UnreadableRecord) || error instanceof NewerRecord) throw error;
      return item;
    }
  }

  return {
    ...store,

    async load(uid, budgetChars, runs) {
      const record = await store.load(uid, budgetChars, runs);
      if (record && seals) slugs.set(uid, record.slug);
      if (!record || !isSealed(record)) return record;
      const isWhole = runs !== "last-in-parts";
      const [snapshot, run, tail] = await Promise.all([
        opening(uid, keys).snapshot(record.snapshot),
        openRun(uid, record.run, isWhole),
        openMessages(uid, record.tail, isWhole),
      ]);
      return { ...record, snapshot, run, tail };
    },

    async commit(commit) {
      if (seals) slugs.set(commit.uid, commit.slug);
      return openedCommit(commit, await store.commit(seals ? await sealedCommit(commit) : commit));
    },

    async keepPart(part) {
      const { uid, runId, nth, text } = part;
      const slug = seals ? await slugOf(uid) : null;
      // A thread without a commit has no holder.
      if (seals && slug === null) return false;
      const sealer = slug === null ? null : await sealerOf(uid, { slug });
      if (!sealer) return store.keepPart(part);
      return store.keepPart({ ...part, text: `${PART}${sealer.sealAt(text, "part", `${runId} ${nth}`)}` });
    },

    keptText: textOfParts,

    async keepImages(kept) {
      const { uid, runId, images } = kept;
      const slug = seals ? (kept.slug ?? (await slugOf(uid))) : null;
      if (seals && slug === null && !(await store.look(uid, null)).isDeleted) {
        throw new StoreUnavailable(`encrypt images of thread ${uid}`, { fact: "its channel is unknown" });
      }
      const sealer = slug === null ? null : await sealerOf(uid, { slug });
      if (!sealer) return store.keepImages(kept);
      return store.keepImages({ ...kept, images: [sealer.sealAt(JSON.stringify(images), "images", runId)] });
    },

    async keptImages(uid, runId) {
      const [first, ...others] = await store.keptImages(uid, runId);
      // An image that is not sealed is a URL: data: or https:.
      if (!first?.startsWith("enc:")) return first === undefined ? [] : [first, ...others];
      const images: unknown = JSON.parse(await opening(uid, keys).openAt(first, "images", "images", runId));
      return Array.isArray(images) ? images.map(String) : [];
    },

    async wait(uid, message, max) {
      const { userId } = message;
      const slug = seals ? await slugOf(uid) : null;
      if (seals && slug === null) {
        return { type: (await store.look(uid, null)).isDeleted ? "deleted" : "free" };
      }
      const sealer = slug === null ? null : await sealerOf(uid, { slug, userId });
      const sealed = sealer?.userMessage(message) ?? message;
      const result = await store.wait(uid, sealed, max);
      return result.type === "said-before" ? compared(uid, result, plainClaim(message)) : result;
    },

    async rate(rating) {
      const { uid, messageId, feedback } = rating;
      const slug = seals ? await slugOf(uid) : null;
      const sealer = slug === null ? null : await sealerOf(uid, { slug });
      // A sealed comment is never the same twice, so a repeat is recognized by the opened text.
      if (sealer && feedback?.comment !== undefined) {
        const known = await feedbackOf(uid, messageId);
        if (known && isSameFeedback(known, feedback)) return { type: "unchanged" };
      }
      const sealed = sealedRatings.get(rating) ?? sealer?.rating(rating) ?? rating;
      sealedRatings.set(rating, sealed);
      const rated = await store.rate(sealed);
      if (rated.type !== "rated" || !rated.before) return rated;
      return { ...rated, before: await opening(uid, keys).feedback(rated.before, messageId) };
    },

    async history(uid, page) {
      return openMessages(uid, await store.history(uid, page), page.budgetChars === undefined);
    },

    async look(uid, from) {
      const look = await store.look(uid, from);
      const messages = await openMessages(uid, look.messages, true);
      if (look.snapshot === undefined) return { ...look, messages };
      return { ...look, messages, snapshot: await opening(uid, keys).snapshot(look.snapshot) };
    },

    claimed,

    async runs(uid, limit) {
      return Promise.all((await store.runs(uid, limit)).map((run) => opening(uid, keys).summary(run)));
    },

    async run(uid, runId) {
      const found = await store.run(uid, runId);
      return found && opening(uid, keys).summary(found);
    },

    async salvage(uid, budgetChars) {
      const stored = await store.salvage(uid, budgetChars);
      if (!stored) return null;
      const salvage = await openedSalvage(stored, opening(uid, keys));
      const { record } = salvage;
      const run = await openRun(uid, record.run, true);
      const tail = await openMessages(uid, record.tail, true);
      const snapshot = await opening(uid, keys).snapshot(record.snapshot);
      return { ...salvage, record: { ...record, run, tail, snapshot } };
    },

    async listThreads(list) {
      const found = await store.listThreads(list);
      return { ...found, items: await Promise.all(found.items.map(withSnapshot)) };
    },

    async channelThreads(slug, page) {
      const found = await store.channelThreads(slug, page);
      return { ...found, items: await Promise.all(found.items.map(withSnapshot)) };
    },

    async channelThread(slug, uid) {
      const found = await store.channelThread(slug, uid);
      return found && withSnapshot(found);
    },

    async unlistUser(deletion, tells) {
      const uids = await store.unlistUser(deletion, tells);
      keys.forget(deletion.slug, deletion.id);
      for (const uid of uids) keys.forgetThread(uid);
      return uids;
    },

    async eraseThread(uid, atMs) {
      keys.forgetThread(uid);
      return store.eraseThread(uid, atMs);
    },

    ...(store.outbox ? { outbox: openedOutbox(store.outbox, { keys, sealerOf }) } : {}),
  };
}

function isSealed({ snapshot, run, tail }: ThreadRecord): boolean {
  return (
    (snapshot !== null && sealedOf(snapshot) !== null) ||
    run?.sealed !== undefined ||
    tail.some(isSealedMessage)
  );
}

function isSealedMessage({ sealed, feedback }: Message): boolean {
  return sealed !== undefined || feedback?.sealed !== undefined;
}

function plainClaim({
  clientMessageId,
  runId,
  text,
}: {
  clientMessageId?: string;
  runId: string;
  text: string;
}): MessageClaim | null {
  return clientMessageId === undefined ? null : { clientMessageId, runId, textHash: hashOf(text) };
}
