import { wholeMessage, wholeRun } from "../../../src/domain/kept-text.ts";
import { claimOf } from "../../../src/domain/message-claim.ts";
import type { MessageClaim } from "../../../src/domain/message-claim.ts";
import type { UserMessage } from "../../../src/domain/message.ts";
import { Secret } from "../../../src/secret.ts";
import type { SaidBefore, Store, ThreadCommit } from "../../../src/store.ts";
import { openedSnapshot, snapshotSealed } from "../../../src/stores/content-keys/sealed-records.ts";
import type { Open, Seal } from "../../../src/stores/content-keys/sealed-records.ts";
import { createWrapping } from "../../../src/stores/content-keys/wrapping.ts";
import { openedGlance } from "../../../src/stores/steps/threads/glance.ts";
import { createCodec } from "../../../src/stores/sealing.ts";
import type { KeptPart } from "../happening.ts";
import type { Meant } from "../store/meant.ts";
import type { World } from "../world.ts";
import type { Process } from "./process.ts";

/**
 * Contents encrypted at rest, over the twin, which keeps records and knows no codec: here each text that somebody said is
 * sealed where it is in its record. So users' keys are made, fetched, moved and deleted as in a real store.
 */
const SAID =
  /page\d+ (?:says|did) |bot\d+ says |(?:ann|ben|cid) writes |\[\d+\.\d+\]|result of call-|Using (?:look|pay)|Wants a person|A person comes/;
/** Texts of parts are joined as they are stored. */
const SEALED = /«([^»]+)»/g;

const wrapping = createWrapping({
  seals: true,
  keys: [{ id: "k1", key: new Secret(Buffer.alloc(32, 7).toString("base64")) }],
});

export interface Encrypting {
  meant: Meant;
  /** The store with its contents encrypted. */
  over(store: Store): Store;
}

function textsOf<T>(record: T, change: (text: string) => string): T {
  const copy = JSON.stringify(record, (name, value: unknown) =>
    typeof value === "string" && name !== "clientMessageId" ? change(value) : value,
  );
  return JSON.parse(copy) as T;
}

function sealed<T>(record: T, seal: Seal | null): T {
  if (!seal) return record;
  return textsOf(record, (text) => (SAID.test(text) ? `«${seal(text, "message", "")}»` : text));
}

function opened<T>(record: T, open: Open): T {
  return textsOf(record, (text) => text.replaceAll(SEALED, (_, one: string) => open(one, "message", "")));
}

export function createEncrypting(world: World, { clock }: Process): Encrypting {
  const hashes = hashesOf.get(world) ?? new Map<string, string>();
  hashesOf.set(world, hashes);
  const commits = new Map<string, ThreadCommit>();
  const messages = new Map<string, UserMessage>();
  const parts = new Map<string, KeptPart>();
  const sealedCommits = new Map<string, ThreadCommit>();

  const nameOf = ({ fence, runId, nth }: Omit<KeptPart, "text">) => `${fence} ${runId} ${nth}`;

  return {
    meant: {
      commit: (stored) => commits.get(stored.opId) ?? stored,
      message: (stored) => messages.get(stored.runId) ?? stored,
      part: (stored) => parts.get(nameOf(stored)) ?? stored,
    },

    over(store) {
      const { contentKeys } = store;
      if (!contentKeys) throw new Error("Cannot encrypt: the store has no keys");
      const codec = createCodec({
        wrapping,
        clock,
        owners: {
          contentKeys,
          ownerOf: async (slug, uid) => (await store.channelThread(slug, uid))?.userId ?? null,
        },
        isDeleted: async (uid) => (await store.look(uid, null)).isDeleted ?? false,
      });
      const slugOf = async (uid: string) => (await store.load(uid, 0, "active"))?.slug ?? null;
      const keptText: Store["keptText"] = async (uid, ...which) => {
        const text = await store.keptText(uid, ...which);
        return codec.read(uid, (open) => opened(text, open));
      };

      async function sealedCommit(commit: ThreadCommit): Promise<ThreadCommit> {
        const { uid, slug, orWait, run, opId, snapshot } = commit;
        const userId = orWait?.message.userId ?? run?.userId ?? null;
        const seal = await codec.sealOf({ uid, slug, userId });
        const change = sealed({ ...commit, snapshot: "" }, seal);
        const whole = { ...change, snapshot: seal ? snapshotSealed(snapshot, seal) : snapshot };
        sealedCommits.set(opId, whole);
        return whole;
      }

      /** A sealed text is never the same twice: what was said is compared as it was meant. */
      function compared<Result extends { type: string }>(
        uid: string,
        result: Result | SaidBefore,
        claim: MessageClaim | null,
      ): Result | SaidBefore {
        if (result.type !== "said-before" || !("isSameText" in result) || !claim) return result;
        const known = hashes.get(claimName(uid, { ...claim, runId: result.runId }));
        return { ...result, isSameText: known === claim.textHash };
      }

      return {
        ...store,
        keptText,

        async load(uid, budgetChars, runs) {
          const stored = await store.load(uid, budgetChars, "last-in-parts");
          if (!stored) return null;
          const record = await codec.read(uid, (open) => ({
            ...opened(stored, open),
            snapshot: stored.snapshot === null ? null : openedSnapshot(stored.snapshot, open),
          }));
          if (runs === "last-in-parts") return record;
          if (runs === "active" && record.state === "idle") record.run = null;
          const textOf = (runId: string, count: number) => keptText(uid, runId, count);
          const { run } = record;
          if (run?.kept) record.run = wholeRun(run, await textOf(run.runId, run.kept.parts));
          const tail = record.tail.map(async (message) => {
            const { kept, runId } = message;
            return kept ? wholeMessage(message, await textOf(runId, kept.parts)) : message;
          });
          record.tail = await Promise.all(tail);
          return record;
        },

        async commit(commit) {
          const { uid, opId, orWait, claimsId } = commit;
          if (!commits.has(opId)) commits.set(opId, structuredClone(commit));
          const claim = orWait ? note(uid, orWait.message) : (claimsId ?? null);
          if (claimsId) hashes.set(claimName(uid, claimsId), claimsId.textHash);
          const result = await store.commit(sealedCommits.get(opId) ?? (await sealedCommit(commit)));
          return codec.read(uid, (open) => compared(uid, opened(result, open), claim));
        },

        async wait(uid, message, max) {
          const claim = note(uid, message);
          const seal = await codec.sealOf({ uid, slug: await slugOf(uid), userId: message.userId });
          return compared(uid, await store.wait(uid, sealed(message, seal), max), claim);
        },

        async keepPart(part) {
          parts.set(nameOf(part), { ...part });
          const { uid } = part;
          const slug = await slugOf(uid);
          if (slug === null) return false;
          return store.keepPart(sealed(part, await codec.sealOf({ uid, slug, userId: null })));
        },

        async claimed(uid, clientMessageId) {
          const claim = await store.claimed(uid, clientMessageId);
          return claim && { ...claim, textHash: hashes.get(claimName(uid, claim)) ?? claim.textHash };
        },

        async history(uid, page) {
          const found = await store.history(uid, page);
          return codec.read(uid, (open) => opened(found, open));
        },

        async look(uid, from) {
          const { snapshot, ...look } = await store.look(uid, from);
          return codec.read(uid, (open) => ({
            ...opened(look, open),
            ...(snapshot === undefined ? {} : { snapshot: openedSnapshot(snapshot, open) }),
          }));
        },

        async runs(uid, limit) {
          const found = await store.runs(uid, limit);
          return codec.read(uid, (open) => opened(found, open));
        },

        async run(uid, runId) {
          const found = await store.run(uid, runId);
          return codec.read(uid, (open) => opened(found, open));
        },

        async channelThread(slug, uid) {
          const found = await store.channelThread(slug, uid);
          return found && codec.read(uid, (open) => openedGlance(found, open));
        },

        async channelThreads(slug, page) {
          const { items, next } = await store.channelThreads(slug, page);
          const shown = items.map(async (item) => codec.read(item.uid, (open) => openedGlance(item, open)));
          return { items: await Promise.all(shown), next };
        },

        async unlistUser(deletion) {
          const uids = await store.unlistUser(deletion);
          codec.forgetUser(deletion.slug, deletion.id);
          for (const uid of uids) codec.forgetThread(uid);
          return uids;
        },

        eraseThread(uid, atMs) {
          codec.forgetThread(uid);
          return store.eraseThread(uid, atMs);
        },
      };
    },
  };

  function note(uid: string, message: UserMessage): MessageClaim | null {
    messages.set(message.runId, structuredClone(message));
    const claim = claimOf(message);
    if (claim) hashes.set(claimName(uid, claim), claim.textHash);
    return claim;
  }
}

const claimName = (uid: string, { clientMessageId, runId }: MessageClaim) =>
  `${uid} ${clientMessageId} ${runId}`;

/** Of what was said to any process, by its claim. */
const hashesOf = new WeakMap<World, Map<string, string>>();
