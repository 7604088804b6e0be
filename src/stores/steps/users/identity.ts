import type { User } from "../../../domain/people/user.ts";
import type { UserStore } from "../../../store.ts";
import type { Engine } from "../../engine.ts";
import { externalId as keyOfExternalId, tables, TOKEN, USER } from "../../tables.ts";
import { writesOfTellings } from "../channel-outbox.ts";
import { fieldIs, fieldsAre } from "../field-is.ts";
import { noteChange } from "../notice.ts";
import { untilApplied } from "../until-applied.ts";
import type { Known } from "../known.ts";
import { mergeReads, mergeStep } from "./merge.ts";
import { isSameCount } from "./tokens.ts";
import type { KnownToken } from "./tokens.ts";
import { slotOfChannel, USER_FIELDS, userFrom, userTexts } from "./user-record.ts";

type Identity = Pick<UserStore, "readIdentity" | "promote" | "merge" | "findUser">;

const READ_IDENTITY = { name: "readIdentity" };

/** Identify: its read and its two steps. Each step names what was read, and does nothing if it has changed. */
export function identitySteps(engine: Engine, known: Known<KnownToken>): Identity {
  const accountRead = (slug: string, externalId: string) =>
    ({
      read: "fields",
      key: tables.external.key(slug, keyOfExternalId(externalId)),
      fields: ["user"],
    }) as const;
  const userRead = (slug: string, userId: string) =>
    ({
      read: "fields",
      key: tables.user.key(slug, userId),
      fields: [...USER_FIELDS, USER.revocations],
    }) as const;

  return {
    readIdentity(slug, tokenHash, externalId) {
      const key = tables.token.key(slug, tokenHash);
      const fields = [TOKEN.user, TOKEN.snapshot, TOKEN.revocations];
      const tokenRead = { read: "fields", key, fields } as const;
      return untilApplied("read an identity", async () => {
        const [[userId = null, snapshot = null], [accountId = null]] = await engine.read(
          [tokenRead, accountRead(slug, externalId)],
          READ_IDENTITY,
        );
        const ids = [userId, accountId].filter((id) => id !== null);
        // What has changed since then is noticed here, or by the step.
        const [now, ...records] = await engine.read(
          [tokenRead, ...ids.map((id) => userRead(slug, id))],
          READ_IDENTITY,
        );
        if (now[0] !== userId || now[1] !== snapshot) return undefined;
        const found = new Map<string | null, { user: User; revocations: string | null }>();
        for (const record of records) {
          const user = userFrom(record);
          if (user) found.set(user.userId, { user, revocations: record[USER_FIELDS.length] ?? null });
        }
        const [held, account] = [found.get(userId), found.get(accountId)?.user];
        const isValid = held && isSameCount(now[2], held.revocations);
        return {
          visitor: isValid ? { user: held.user, snapshot: snapshot ?? "" } : null,
          // A record without the external id is not an account yet: its promotion was interrupted, and will be
          // continued.
          account: account?.externalId === externalId ? account : null,
        };
      });
    },

    // The user's record comes last: while it is as it was read, the promotion is not done.
    async promote({ slug, tokenHash, externalId, user, snapshot, tells = [] }) {
      const { userId } = user;
      const external = tables.external.key(slug, keyOfExternalId(externalId));
      const [token, key] = [tables.token.key(slug, tokenHash), tables.user.key(slug, userId)];
      const [[counted = null], [count = null]] = await engine.read(
        [
          { read: "fields", key: token, fields: [TOKEN.revocations] },
          { read: "fields", key, fields: [USER.revocations] },
        ],
        { name: "readPromotion" },
      );
      if (!isSameCount(counted, count)) return "changed";
      const { type } = await engine.apply({
        name: "promote",
        slot: slotOfChannel(slug),
        checks: [
          fieldIs(token, TOKEN.user, userId),
          fieldIs(token, TOKEN.revocations, counted),
          fieldIs(external, "user", null, userId),
          ...fieldsAre(key, USER_FIELDS, userTexts(user)),
          fieldIs(key, USER.revocations, count),
        ],
        writes: [
          { write: "set", key: external, fields: [["user", userId]] },
          { write: "set", key: token, fields: [[TOKEN.snapshot, snapshot]] },
          ...writesOfTellings(slug, tells),
          { write: "set", key, fields: [[USER.external, externalId]] },
        ],
      });
      return type === "failed" ? "changed" : "done";
    },

    async merge(merge) {
      const { slug, tokenHash, from, into, result } = merge;
      if (from.userId === into.userId) return "changed";
      const outcome = await untilApplied("merge two users", async () => {
        const found = await engine.read(mergeReads(merge), { name: "readMerge" });
        const step = mergeStep(merge, found);
        if (step === null) return "changed";
        if ((await engine.apply(step)).type === "failed") return undefined;
        const [[, ends]] = found;
        const endsAtMs = typeof ends === "string" ? Number(ends) : null;
        known.set(tables.token.key(slug, tokenHash), { userId: into.userId, endsAtMs });
        return "done";
      });
      // A user who could talk before is blocked now: every instance is notified.
      if (outcome === "done" && result.blocked && !from.blocked) await noteChange(engine);
      return outcome;
    },

    async findUser(slug, id) {
      const [fields, [accountId = null]] = await engine.read([userRead(slug, id), accountRead(slug, id)]);
      const user = userFrom(fields);
      if (user || accountId === null) return user;
      const [account] = await engine.read([userRead(slug, accountId)]);
      return userFrom(account);
    },
  };
}
