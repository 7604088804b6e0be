import type { Clock } from "../../clock.ts";
import { userOfUid } from "../content-keys/user-keys.ts";
import type { KeyOwners } from "../content-keys/user-keys.ts";
import { createWrapping } from "../content-keys/wrapping.ts";
import type { Wrapping } from "../content-keys/wrapping.ts";
import type { Engine } from "../engine.ts";
import { createCodec } from "../sealing.ts";
import type { Codec } from "../sealing.ts";
import { HEADER, tables } from "../tables.ts";
import { contentKeySteps } from "./content-keys.ts";
import { ownedThread, ownersOf } from "./orders/owners.ts";
import { isDeleted } from "./threads/facts.ts";
import { readField } from "./threads/read-field.ts";

export interface SealingOptions {
  /** Absent: nothing is encrypted, and encrypted texts are refused. */
  wrapping?: Wrapping | undefined;
  /** Absent: the users in the store. */
  owners?: KeyOwners | undefined;
}

export function codecOn(engine: Engine, clock: Clock, { wrapping, owners }: SealingOptions): Codec {
  return createCodec({
    wrapping: wrapping ?? createWrapping({ seals: false, keys: [] }),
    clock,
    owners: owners ?? ownersOn(engine),
    async isDeleted(uid) {
      const how = { name: "isDeleted" };
      return isDeleted({ fence: await readField(engine, tables.header.key(uid), HEADER.fence, how) });
    },
  });
}

function ownersOn(engine: Engine): KeyOwners {
  return {
    contentKeys: contentKeySteps(engine),
    async ownerOf(slug, uid) {
      const own = userOfUid(uid);
      if (own !== null) return own;
      const [owner = null] = await ownersOf(engine, slug, [uid]);
      return (await ownedThread(engine, slug, uid, owner))?.userId ?? null;
    },
  };
}
