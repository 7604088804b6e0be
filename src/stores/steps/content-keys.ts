import type { ContentKeyStore } from "../../store.ts";
import { slotOf } from "../engine.ts";
import type { Engine, Write } from "../engine.ts";
import { tables, USER } from "../tables.ts";
import { fieldIs } from "./field-is.ts";
import { idRead, slotOfChannel } from "./users/user-record.ts";

/** The wrapped keys of users, and what the keys are recognized by that wrapped them. */
export function contentKeySteps(engine: Engine): ContentKeyStore {
  const wrappers = tables.wrappers.key;

  return {
    async keys(slug, userId) {
      const key = tables.contentKeys.key(slug, userId);
      const [[id], keys] = await engine.read([idRead(slug, userId), { read: "hash", key }]);
      return id === null ? null : Object.fromEntries(keys);
    },

    async add({ slug, userId, keyId, wrapped }) {
      const key = tables.contentKeys.key(slug, userId);
      const { type, reads } = await engine.apply({
        slot: slotOfChannel(slug),
        checks: [fieldIs(tables.user.key(slug, userId), USER.id, userId), fieldIs(key, keyId, null, wrapped)],
        writes: [{ write: "set", key, fields: [[keyId, wrapped]] }],
        reads: [idRead(slug, userId), { read: "fields", key, fields: [keyId] }],
      });
      if (type !== "failed") return wrapped;
      const [[id], [stored = null]] = reads;
      return id === null ? null : stored;
    },

    async replace({ slug, userId, keyId, was, wrapped }) {
      const key = tables.contentKeys.key(slug, userId);
      const change: Write =
        wrapped === null
          ? { write: "remove", key, fields: [keyId] }
          : { write: "set", key, fields: [[keyId, wrapped]] };
      const step = { slot: slotOfChannel(slug), checks: [fieldIs(key, keyId, was)], writes: [change] };
      return (await engine.apply(step)).type === "done";
    },

    async wrappers() {
      const [stored] = await engine.read([{ read: "hash", key: wrappers }]);
      return Object.fromEntries(stored);
    },

    async noteWrapper(id, check) {
      await engine.apply({
        slot: slotOf(wrappers),
        checks: [fieldIs(wrappers, id, null)],
        writes: [{ write: "set", key: wrappers, fields: [[id, check]] }],
      });
    },

    async forgetWrapper(id) {
      const writes: Write[] = [{ write: "remove", key: wrappers, fields: [id] }];
      await engine.apply({ slot: slotOf(wrappers), checks: [], writes });
    },
  };
}
