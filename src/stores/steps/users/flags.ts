import type { UserStore } from "../../../store.ts";
import type { Engine, Pair, Write } from "../../engine.ts";
import { tables, USER } from "../../tables.ts";
import { fieldIs, fieldsAre } from "../field-is.ts";
import { noteChange } from "../notice.ts";
import { flag, slotOfChannel, USER_FIELDS, userDrops, userFrom } from "./user-record.ts";

type Flags = Pick<UserStore, "flagUser" | "renameUser" | "dropSilentVisitor">;

/** What operators and retention change of a user. */
export function flagSteps(engine: Engine): Flags {
  /** Null: the user is gone. The user is as it was before. */
  async function change(slug: string, userId: string, writes: readonly Write[]) {
    const key = tables.user.key(slug, userId);
    const { type, reads } = await engine.apply({
      slot: slotOfChannel(slug),
      checks: [fieldIs(key, USER.id, userId)],
      writes,
      reads: [{ read: "fields", key, fields: USER_FIELDS }],
    });
    return type === "failed" ? null : userFrom(reads[0]);
  }

  return {
    async flagUser(slug, userId, flags) {
      const { blocked, whitelisted } = flags;
      const key = tables.blocked.key(slug);
      const [[place]] = await engine.read([
        { read: "scores", key: tables.users.key(slug), members: [userId] },
      ]);
      const fields: Pair[] = [];
      if (blocked !== undefined) fields.push([USER.blocked, flag(blocked)]);
      if (whitelisted !== undefined) fields.push([USER.whitelisted, flag(whitelisted)]);
      const listed: Write = blocked
        ? { write: "put", key, members: [[userId, place ?? 0]] }
        : { write: "take", key, members: [userId] };
      const user = await change(slug, userId, [
        ...(blocked === undefined ? [] : [listed]),
        ...(fields.length > 0 ? [{ write: "set", key: tables.user.key(slug, userId), fields } as const] : []),
      ]);
      if (user === null) return null;
      await noteChange(engine);
      return { ...user, ...flags };
    },

    async renameUser(slug, userId, displayName) {
      const key = tables.user.key(slug, userId);
      const write: Write =
        displayName === null
          ? { write: "remove", key, fields: [USER.name] }
          : { write: "set", key, fields: [[USER.name, displayName]] };
      const user = await change(slug, userId, [write]);
      return user && { ...user, displayName };
    },

    async dropSilentVisitor(slug, userId) {
      const [user, names] = [tables.user.key(slug, userId), tables.names.key(slug, userId)];
      const { type } = await engine.apply({
        slot: slotOfChannel(slug),
        checks: [
          ...fieldsAre(
            user,
            [USER.id, USER.external, USER.blocked, USER.whitelisted],
            [userId, null, flag(false), flag(false)],
          ),
          { check: "key", key: names, exists: false },
        ],
        writes: [
          { write: "take", key: tables.users.key(slug), members: [userId] },
          ...userDrops(slug, userId),
        ],
      });
      return type !== "failed";
    },
  };
}
