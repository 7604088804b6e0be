import { hashOf } from "../../../src/domain/message-claim.ts";
import type { UserMessage } from "../../../src/domain/message.ts";
import { Secret } from "../../../src/secret.ts";
import type { Store, ThreadCommit } from "../../../src/store.ts";
import { contentStore } from "../../../src/stores/content-keys/content-store.ts";
import { createWrapping } from "../../../src/stores/content-keys/wrapping.ts";
import type { KeptPart } from "../happening.ts";
import type { Meant } from "../store/meant.ts";
import type { World } from "../world.ts";
import type { Process } from "./process.ts";

/** What clients, people, models and tools say in a simulation. A message's own id stays readable. */
const SAID =
  /page\d+ (?:says|did) |bot\d+ says |(?:ann|ben|cid) writes |\[\d+\.\d+\]|result of call-|Using (?:look|pay)|Wants a person|A person comes/;

const wrapping = createWrapping({
  seals: true,
  keys: [{ id: "k1", key: new Secret(Buffer.alloc(32, 7).toString("base64")) }],
});

export interface Encrypting {
  meant: Meant;
  /** The store with its contents encrypted. */
  over(store: Store): Store;
}

export function createEncrypting({ judge }: World, { id: by, clock }: Process): Encrypting {
  const commits = new Map<string, ThreadCommit>();
  const messages = new Map<string, UserMessage>();
  const parts = new Map<string, KeptPart>();
  const hashes = new Set<string>();

  const nameOf = ({ fence, runId, nth }: Omit<KeptPart, "text">) => `${fence} ${runId} ${nth}`;

  function noteMessage(message: UserMessage): void {
    messages.set(message.runId, structuredClone(message));
    hashes.add(hashOf(message.text));
  }

  /** Of a text that can be guessed its hash says as much. */
  const isReadable = (text: string) => SAID.test(text) || hashes.has(text);

  function look(stored: unknown): void {
    JSON.stringify(stored, (name, value: unknown) => {
      if (name === "clientMessageId") return undefined;
      if (typeof value === "string" && isReadable(value))
        judge({ type: "plain text stored", by, text: value });
      return value;
    });
  }

  return {
    meant: {
      commit: (stored) => commits.get(stored.opId) ?? stored,
      message: (stored) => messages.get(stored.runId) ?? stored,
      part: (stored) => parts.get(nameOf(stored)) ?? stored,
      look,
    },

    over(store) {
      const sealing = contentStore(store, { wrapping, clock });
      return {
        ...sealing,
        commit(commit) {
          if (!commits.has(commit.opId)) commits.set(commit.opId, structuredClone(commit));
          if (commit.orWait) noteMessage(commit.orWait.message);
          return sealing.commit(commit);
        },
        wait(uid, message, max) {
          noteMessage(message);
          return sealing.wait(uid, message, max);
        },
        keepPart(part) {
          parts.set(nameOf(part), { ...part });
          return sealing.keepPart(part);
        },
      };
    },
  };
}
