import type { OutboxStore, SealedEvent, ToldRef } from "../../store.ts";
import { keyIdOf } from "./cipher.ts";
import { opening } from "./thread-contents.ts";
import type { sealing } from "./thread-contents.ts";
import type { UserKeys } from "./user-keys.ts";

/** Webhook events of threads, encrypted at rest. Events of users have no texts, and are stored as they are. */
export function openedOutbox(
  outbox: OutboxStore,
  {
    keys,
    sealerOf,
  }: {
    keys: UserKeys;
    sealerOf: (uid: string, whose: { slug: string }) => Promise<ReturnType<typeof sealing> | null>;
  },
): OutboxStore {
  async function openedBody(ref: ToldRef, sealed: SealedEvent): Promise<SealedEvent> {
    const { uid } = ref;
    if (uid === null || keyIdOf(sealed.body) === null) return sealed;
    return { ...sealed, body: await opening(uid, keys).openAt(sealed.body, "event", "body", bodyPlace(ref)) };
  }

  return {
    ...outbox,

    async event(ref) {
      const stored = await outbox.event(ref);
      if (!stored || ref.uid === null) return stored;
      if (stored.type === "sealed") return { type: "sealed", ...(await openedBody(ref, stored)) };
      return { ...stored, text: await opening(ref.uid, keys).event(stored.text) };
    },

    async seal(ref, plain) {
      const { uid, slug } = ref;
      const sealer = uid === null ? null : await sealerOf(uid, { slug });
      const body = sealer ? sealer.sealAt(plain.body, "body", bodyPlace(ref)) : plain.body;
      const kept = await outbox.seal(ref, { ...plain, body });
      return kept && openedBody(ref, kept);
    },
  };
}

const bodyPlace = ({ nth, endpoint }: ToldRef): string => `${nth} ${endpoint}`;
