import type { Attributes } from "../domain/people/attributes.ts";
import type { Clock } from "../clock.ts";
import { decideIdentity } from "../domain/people/identify.ts";
import { newId } from "../domain/ids.ts";
import { Refusal } from "../domain/refusal.ts";
import { newVisitorToken, readVisitorToken } from "../domain/people/visitor-token.ts";
import type { TokenClaim } from "../domain/people/visitor-token.ts";
import type { RenamedThread } from "../domain/threads/renamed-threads.ts";
import type { User } from "../domain/people/user.ts";
import type { PlainLog } from "../log.ts";
import { NewerRecord, UnreadableRecord } from "../store.ts";
import type { SealedTelling, UserStore, VisitorAdmission } from "../store.ts";
import { visitorHost } from "../charts/charts.ts";
import type { VisitorSnapshot } from "../charts/charts.ts";

/** Visitor tokens: minted, used and bound to accounts as machines/visitor.ts decides. */
export interface Visitors {
  /** A new anonymous user of a web channel, and its token. `expiresAt` is Unix ms. */
  mint(slug: string): Promise<{ visitorToken: string; expiresAt: number; userId: string }>;
  /** Uses a token, which extends its lifetime. Null if it is unknown or expired. */
  admit(claim: TokenClaim, threadId: string | null): Promise<VisitorAdmission | null>;
  /** Threads whose name for this token differs from the name for its account (domain/threads/renamed-threads.ts). */
  renamedThreads(claim: TokenClaim): Promise<RenamedThread[]>;
  /**
   * Binds a token to an account; this does not count as a use. Refusal("not-found") if the token is unknown, expired or of
   * another channel, Refusal("conflict") if it is bound to another account. `attributes` are set on the account in a second
   * step; if that fails, repeat the call. `rotate`: replaces the token by a new one.
   */
  identify(identity: {
    slug: string;
    visitorToken: string;
    externalId: string;
    /** Absent: unchanged. */
    attributes?: Attributes | undefined;
    rotate?: boolean;
  }): Promise<Identified>;
  /** Ends all tokens of an account; does nothing if there is no such account. */
  revoke(account: { slug: string; externalId: string }): Promise<void>;
}

/** `mergedUserId`: the anonymous user who was merged into the account; null: the user itself became the account. */
export interface BoundUser {
  slug: string;
  userId: string;
  externalId: string;
  mergedUserId: string | null;
}

export interface Identified {
  userId: string;
  merged: boolean;
  /** Only if the token was rotated. */
  visitorToken?: string;
  expiresAt?: number;
}

/** How often identify reads again if the data changes between the reading and the write. */
const MAX_READINGS = 20;

export function createVisitors(options: {
  store: UserStore;
  clock: Clock;
  /** WIDGET_VISITOR_TTL_SECONDS */
  ttlMs: number;
  /** WIDGET_VISITOR_MAX_AGE_SECONDS; null: use alone ends a token. */
  maxAgeMs?: number | null;
  log?: Pick<PlainLog, "error">;
  /** The webhook events of a user who was bound to an account; by default none. */
  tells?: (bound: BoundUser) => SealedTelling[];
}): Visitors {
  const { store, clock, ttlMs, maxAgeMs = null, log, tells = () => [] } = options;
  const anonymous = visitorHost.freeze(visitorHost.initial());

  /**
   * Sets an unreadable snapshot aside and makes a new one from the token's user: a token is bound to its user's account, or
   * to none. Throws NewerRecord if a newer version wrote it.
   */
  async function readableSnapshot(
    { slug, tokenHash }: TokenClaim,
    { user, snapshot: unreadable }: { user: User; snapshot: string },
  ): Promise<VisitorSnapshot> {
    try {
      return visitorHost.thaw(unreadable, slug);
    } catch (error) {
      if (!(error instanceof UnreadableRecord) || error instanceof NewerRecord) throw error;
      const { externalId, userId } = user;
      const initial = visitorHost.initial();
      const snapshot =
        externalId === null
          ? initial
          : visitorHost.decide(initial, { type: "visitor.identified", externalId }).next;
      await store.mendToken({ slug, tokenHash, unreadable, snapshot: visitorHost.freeze(snapshot) });
      log?.error(
        { channel: slug, userId, reason: error.message },
        "set a visitor token's state aside: it goes on",
      );
      return snapshot;
    }
  }

  async function settle(
    slug: string,
    { tokenHash }: TokenClaim,
    externalId: string,
  ): Promise<Identified | "changed"> {
    const { visitor, account } = await store.readIdentity(slug, tokenHash, externalId);
    if (!visitor) throw new Refusal("not-found", "Unknown visitor token");

    const { user } = visitor;
    const snapshot = await readableSnapshot({ slug, tokenHash }, visitor);
    const { next } = visitorHost.decide(snapshot, { type: "visitor.identified", externalId });
    const boundTo = snapshot.context.externalId;
    const decision = decideIdentity({ user, boundTo, externalId, account });
    const binding = { slug, tokenHash, snapshot: visitorHost.freeze(next) };

    switch (decision.type) {
      case "keep":
        return { userId: decision.userId, merged: false };
      case "conflict":
        throw new Refusal("conflict", "The visitor token is bound to another account");
      case "promote": {
        const tellings = tells({ slug, userId: user.userId, externalId, mergedUserId: null });
        const told = tellings.length > 0 ? { tells: tellings } : {};
        const outcome = await store.promote({ ...binding, externalId, user, ...told });
        return outcome === "done" ? { userId: user.userId, merged: false } : outcome;
      }
      case "merge": {
        const { into, result } = decision;
        const bound = { slug, userId: result.userId, externalId, mergedUserId: user.userId };
        const tellings = tells(bound);
        const told = tellings.length > 0 ? { tells: tellings } : {};
        const grants = await grantsOf(slug, user.userId);
        const outcome = await store.merge({ ...binding, from: user, into, result, ...told });
        if (outcome === "done") await moveGrants(slug, result.userId, grants);
        return outcome === "done" ? { userId: result.userId, merged: true } : outcome;
      }
    }
  }

  /** What the visitor granted at MCP servers, by their names. */
  async function grantsOf(slug: string, userId: string): Promise<Map<string, string>> {
    const grants = new Map<string, string>();
    for (const server of await store.grantedServers(slug, userId)) {
      const text = await store.grant(slug, userId, server);
      if (text !== null) grants.set(server, text);
    }
    return grants;
  }

  /**
   * Gives them to the account, whose own stay. Not in the step of the merge, since they are sealed by another key: a process
   * that dies in between costs the visitor a sign-in.
   */
  async function moveGrants(
    slug: string,
    userId: string,
    grants: ReadonlyMap<string, string>,
  ): Promise<void> {
    if (grants.size === 0) return;
    const own = await store.grantedServers(slug, userId);
    for (const [server, text] of grants) {
      if (!own.includes(server)) await store.keepGrant({ slug, userId, server, text });
    }
  }

  /** A new token, and when it expires. */
  function freshToken(slug: string) {
    const visitorToken = newVisitorToken(slug);
    const claim = readVisitorToken(visitorToken);
    if (!claim) throw new Error(`Cannot mint a visitor token: ${JSON.stringify(slug)} is no slug`);
    const atMs = clock.now();
    const times = maxAgeMs === null ? { ttlMs } : { ttlMs, endsAtMs: atMs + maxAgeMs };
    return { visitorToken, claim, atMs, times, expiresAt: atMs + Math.min(ttlMs, maxAgeMs ?? Infinity) };
  }

  /** Replaces the token: the old one is invalid from now on. */
  async function rotate({ slug, tokenHash }: TokenClaim, identified: Identified): Promise<Identified> {
    const { visitorToken, claim, times, expiresAt } = freshToken(slug);
    const { userId } = identified;
    const rotation = { slug, tokenHash, userId, newTokenHash: claim.tokenHash, ...times };
    // Another call has replaced the token meanwhile.
    if (!(await store.rotateToken(rotation))) throw new Refusal("not-found", "Unknown visitor token");
    return { ...identified, visitorToken, expiresAt };
  }

  async function describeAccount(slug: string, externalId: string, attributes: Attributes): Promise<void> {
    await store.admitUser({
      slug,
      externalId,
      displayName: null,
      attributes,
      newUserId: newId(),
      thread: null,
      creates: true,
      atMs: clock.now(),
    });
  }

  return {
    async mint(slug) {
      const { visitorToken, claim, atMs, times, expiresAt } = freshToken(slug);
      const userId = newId();
      await store.mintVisitor({ ...claim, userId, snapshot: anonymous, atMs, ...times });
      return { visitorToken, expiresAt, userId };
    },

    async admit(claim, threadId) {
      const admission = await store.admitVisitor({ ...claim, ttlMs, threadId });
      if (!admission) return null;
      const snapshot = await readableSnapshot(claim, admission);
      const { changed } = visitorHost.decide(snapshot, { type: "token.used" });
      if (changed)
        throw new Error("Cannot admit a visitor: a use changed the token's state, and is not saved");
      return admission;
    },

    renamedThreads: ({ slug, tokenHash }) => store.renamedThreads(slug, tokenHash),

    async revoke({ slug, externalId }) {
      const asked = { slug, externalId, displayName: null, thread: null, creates: false };
      const account = await store.admitUser({ ...asked, newUserId: newId(), atMs: clock.now() });
      if (account) await store.revokeTokens(slug, account.user.userId);
    },

    async identify({ slug, visitorToken, externalId, attributes, rotate: rotates = false }) {
      const claim = readVisitorToken(visitorToken);
      if (claim?.slug !== slug) throw new Refusal("not-found", "Unknown visitor token");
      for (let readings = 0; readings < MAX_READINGS; readings++) {
        const identified = await settle(slug, claim, externalId);
        if (identified === "changed") continue;
        if (attributes) await describeAccount(slug, externalId, attributes);
        return rotates ? rotate(claim, identified) : identified;
      }
      throw new Refusal("unavailable", "The visitor is busy", 1);
    },
  };
}
