import type { UserStore, VisitorAdmission } from "../../../store.ts";
import type { Engine } from "../../engine.ts";
import { tables, TOKEN, USER } from "../../tables.ts";
import { untilApplied } from "../until-applied.ts";
import type { Known } from "../known.ts";
import { isSameCount, slidingWrites } from "./tokens.ts";
import type { KnownToken } from "./tokens.ts";
import {
  CHANNEL_FIELDS,
  channelStateFrom,
  slotOfChannel,
  uidFrom,
  USER_FIELDS,
  userFrom,
} from "./user-record.ts";

type Visitor = Parameters<UserStore["admitVisitor"]>[0];

const TOKEN_FIELDS = [TOKEN.user, TOKEN.snapshot, TOKEN.revocations];
const ADMITTED_FIELDS = [...USER_FIELDS, USER.revocations];

/** Admits by a token: one step if this process knows the token's user; otherwise a read comes first. */
export function visitorAdmission(engine: Engine, known: Known<KnownToken>): Pick<UserStore, "admitVisitor"> {
  async function read(token: string): Promise<KnownToken | null> {
    const [[userId = null, ends = null]] = await engine.read([
      { read: "fields", key: token, fields: [TOKEN.user, TOKEN.ends] },
    ]);
    if (userId === null) return null;
    const found = { userId, endsAtMs: ends === null ? null : Number(ends) };
    known.set(token, found);
    return found;
  }

  /** undefined: the token is gone, or another user's. */
  async function attempt(
    { slug, ttlMs, threadId }: Visitor,
    token: string,
    found: KnownToken,
  ): Promise<VisitorAdmission | null | undefined> {
    const { userId, endsAtMs } = found;
    // As durable as any write: what is read here is shown to the visitor. The embedded engine waits for no disk if a step
    // only changes a lifetime: a power cut may undo a token's last use.
    const { reads } = await engine.apply({
      name: "admitVisitor",
      slot: slotOfChannel(slug),
      checks: [],
      writes: slidingWrites(token, ttlMs, endsAtMs),
      reads: [
        { read: "fields", key: token, fields: tokenFields(threadId) },
        { read: "fields", key: tables.channel.key(slug), fields: CHANNEL_FIELDS },
        { read: "fields", key: tables.user.key(slug, userId), fields: ADMITTED_FIELDS },
        ...(threadId === null ? [] : [namesRead(slug, found, threadId)]),
      ],
    });
    const [[boundTo, snapshot, revocations, renamed], state, fields, entries] = reads;
    if (boundTo !== userId) {
      known.forget(token);
      return undefined;
    }
    const [user, channel] = [userFrom(fields), channelStateFrom(state, slug)];
    if (!user || !channel || !isSameCount(revocations, fields[USER_FIELDS.length])) return null;
    const [entry = null, renamedEntry = null] = entries ?? [];
    let thread = entry;
    if (threadId !== null && typeof renamed === "string") {
      const isKnown = storedName(found, threadId) === renamed;
      // A merge that was stopped has told the token of the new name already: the old one still leads there.
      thread = (isKnown ? renamedEntry : await entryOf(slug, userId, renamed)) ?? entry;
      if (!isKnown) known.set(token, { userId, endsAtMs, renamed: { said: threadId, stored: renamed } });
    }
    return {
      user,
      channel,
      threadUid: thread === null ? null : uidFrom(thread),
      snapshot: snapshot ?? "",
      ...(endsAtMs === null ? {} : { endsAtMs }),
    };
  }

  async function entryOf(slug: string, userId: string, name: string): Promise<string | null> {
    const key = tables.names.key(slug, userId);
    const [[entry = null]] = await engine.read([{ read: "fields", key, fields: [name] }]);
    return entry;
  }

  return {
    async admitVisitor(visitor) {
      const token = tables.token.key(visitor.slug, visitor.tokenHash);
      const found = known.get(token) ?? (await read(token));
      if (found === null) return null;
      const admitted = await attempt(visitor, token, found);
      if (admitted !== undefined) return admitted;
      return untilApplied("admit a visitor", async () => {
        const now = await read(token);
        return now && attempt(visitor, token, now);
      });
    },
  };
}

function tokenFields(threadId: string | null): readonly string[] {
  return threadId === null ? TOKEN_FIELDS : [...TOKEN_FIELDS, TOKEN.renamed(threadId)];
}

/** The account's name for the thread that the token's page calls so, if that is another one and known. */
function storedName({ renamed }: KnownToken, threadId: string): string | undefined {
  return renamed?.said === threadId ? renamed.stored : undefined;
}

function namesRead(slug: string, found: KnownToken, threadId: string) {
  const stored = storedName(found, threadId);
  const fields = stored === undefined ? [threadId] : [threadId, stored];
  return { read: "fields" as const, key: tables.names.key(slug, found.userId), fields };
}
