import type { UserStore } from "../../../store.ts";
import { uidOfUser } from "../../content-keys/user-keys.ts";
import type { Write } from "../../engine.ts";
import { tables, USER } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { idRead, slotOfChannel } from "./user-record.ts";

type Grants = Pick<
  UserStore,
  "grant" | "grantedServers" | "keepGrant" | "keepSignIn" | "takeSignIn" | "hasSignIn"
>;

const SIGN_IN = ["user", "text"];

/** What users have granted at MCP servers: beside the user's record, sealed by the user's key, and dropped with them. */
export function grantSteps({ engine, codec }: Pick<StepsContext, "engine" | "codec">): Grants {
  /** Null: the user is gone. */
  async function sealed(slug: string, userId: string, id: string, text: string): Promise<string | null> {
    const [[stored]] = await engine.read([idRead(slug, userId)]);
    if (stored !== userId) return null;
    const seal = await codec.sealOf({ uid: uidOfUser(userId), slug, userId });
    return seal ? seal(text, "grant", id) : text;
  }

  const opened = (userId: string, id: string, text: string) =>
    codec.read(uidOfUser(userId), (open) => (text.startsWith("enc:") ? open(text, "grant", id) : text));

  /** False: the user is gone. */
  async function change(slug: string, userId: string, writes: readonly Write[]): Promise<boolean> {
    const checks = [fieldIs(tables.user.key(slug, userId), USER.id, userId)];
    const { type } = await engine.apply({ name: "keepGrant", slot: slotOfChannel(slug), checks, writes });
    return type !== "failed";
  }

  return {
    async grant(slug, userId, server) {
      const key = tables.grants.key(slug, userId);
      const [[text = null]] = await engine.read([{ read: "fields", key, fields: [server] }], {
        name: "grant",
      });
      return text === null ? null : opened(userId, server, text);
    },

    async grantedServers(slug, userId) {
      const [grants] = await engine.read([{ read: "hash", key: tables.grants.key(slug, userId) }]);
      return grants.map(([server]) => server).sort();
    },

    async keepGrant({ slug, userId, server, text }) {
      const key = tables.grants.key(slug, userId);
      if (text === null) return change(slug, userId, [{ write: "remove", key, fields: [server] }]);
      const kept = await sealed(slug, userId, server, text);
      return kept !== null && change(slug, userId, [{ write: "set", key, fields: [[server, kept]] }]);
    },

    async keepSignIn({ slug, userId, stateHash, text, ttlMs }) {
      const key = tables.signIn.key(slug, stateHash);
      const kept = await sealed(slug, userId, stateHash, text);
      if (kept === null) return false;
      return change(slug, userId, [
        {
          write: "set",
          key,
          fields: [
            ["user", userId],
            ["text", kept],
          ],
        },
        { write: "expire", key, inMs: ttlMs },
      ]);
    },

    async takeSignIn(slug, stateHash) {
      const key = tables.signIn.key(slug, stateHash);
      const [[userId = null, text = null]] = await engine.read([{ read: "fields", key, fields: SIGN_IN }], {
        name: "takeSignIn",
      });
      if (userId === null || text === null) return null;
      const { type } = await engine.apply({
        name: "takeSignIn",
        slot: slotOfChannel(slug),
        checks: [
          fieldIs(key, "text", text),
          // A sign-in that outlives its user is nobody's.
          fieldIs(tables.user.key(slug, userId), USER.id, userId),
        ],
        writes: [{ write: "drop", key }],
      });
      return type === "failed" ? null : { userId, text: await opened(userId, stateHash, text) };
    },

    async hasSignIn(slug, stateHash) {
      const key = tables.signIn.key(slug, stateHash);
      const [isThere] = await engine.read([{ read: "exists", key }], { durable: false, name: "hasSignIn" });
      return isThere;
    },
  };
}
