import type { Deletion, DeletionStore } from "../../../store/deletions.ts";
import type { SealedTelling } from "../../../store/outbox.ts";
import type { Engine, Member } from "../../engine.ts";
import type { Codec } from "../../sealing.ts";
import { externalId, tables, USER } from "../../tables.ts";
import { writesOfTellings } from "../channel-outbox.ts";
import { fieldIs } from "../field-is.ts";
import { dropToldOf } from "./told-users.ts";
import { untilApplied } from "../until-applied.ts";
import { eraseTokensOf } from "../users/tokens.ts";
import { slotOfChannel, uidFrom } from "../users/user-record.ts";
import { goneThread, goneUser, threadsAmong, unlistingWrites } from "./unlisted.ts";

/** What belongs to a user alone; the user itself goes last. */
const OWN = [
  tables.names,
  tables.days,
  tables.moved,
  tables.tokens,
  tables.contentKeys,
  tables.grants,
  tables.user,
];

export function unlistUserSteps(engine: Engine, codec: Codec): Pick<DeletionStore, "unlistUser"> {
  return {
    async unlistUser(deletion, tells = []) {
      const { slug, id: userId } = deletion;
      // First, while it is known which they are.
      await eraseTokensOf(engine, slug, userId);
      const uids = await untilApplied(`delete user ${userId}`, () => unlist(engine, deletion, tells));
      codec.forgetUser(slug, userId);
      for (const uid of uids) codec.forgetThread(uid);
      await dropToldOf(engine, slug, userId);
      return uids;
    },
  };
}

/** Resolves to the uids of the user's threads; of a user that was unlisted before, by what was deleted at that time. */
async function unlist(
  engine: Engine,
  { slug, id: userId, atMs }: Deletion,
  tells: readonly SealedTelling[],
): Promise<string[] | undefined> {
  const user = tables.user.key(slug, userId);
  const gone = tables.gone.key(slug);
  const member = goneUser(userId);
  const fields = [USER.id, USER.external, USER.threads];
  const [values, names, [goneAtMs = null]] = await engine.read([
    { read: "fields", key: user, fields },
    { read: "hash", key: tables.names.key(slug, userId) },
    { read: "scores", key: gone, members: [member] },
  ]);
  // Two may delete the user, each at a time of its own: what has gone went at that of the first.
  const goneBefore = goneAtMs === null ? [] : await goneAt(engine, gone, goneAtMs);
  const account = await accountOf(engine, slug, userId, values[1] ?? null);
  const named = names.map(([, text]) => uidFrom(text));
  const uids = [...new Set([...named, ...threadsAmong(goneBefore)])].toSorted();
  const checks = fields.map((field, nth) => fieldIs(user, field, values[nth] ?? null));
  checks.push({ check: "score", key: gone, member, is: [goneAtMs, atMs] });
  if (account) checks.push(fieldIs(account, "user", userId, null));
  const { type } = await engine.apply({
    slot: slotOfChannel(slug),
    checks,
    writes: [
      ...(goneAtMs === null ? writesOfTellings(slug, tells) : []),
      {
        write: "put",
        key: gone,
        members: [...uids.map(goneThread), member].map((one) => [one, atMs]),
        mode: "new",
      },
      { write: "take", key: tables.users.key(slug), members: [userId] },
      { write: "take", key: tables.blocked.key(slug), members: [userId] },
      ...unlistingWrites(slug, uids, atMs),
      ...(account ? [{ write: "drop" as const, key: account }] : []),
      ...OWN.map((table) => ({ write: "drop" as const, key: table.key(slug, userId) })),
    ],
  });
  return type === "failed" ? undefined : uids;
}

/** The key by which the external id leads to this user; null: there is none, or it leads to another one. */
async function accountOf(
  engine: Engine,
  slug: string,
  userId: string,
  external: string | null,
): Promise<string | null> {
  if (external === null) return null;
  const key = tables.external.key(slug, externalId(external));
  const [[account = null]] = await engine.read([{ read: "fields", key, fields: ["user"] }]);
  return account === userId ? key : null;
}

async function goneAt(engine: Engine, key: string, atMs: number): Promise<Member[]> {
  const [found] = await engine.read([{ read: "range", key, from: atMs, to: atMs }]);
  return found;
}
