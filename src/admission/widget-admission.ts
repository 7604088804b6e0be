import type { Config } from "../config.ts";
import type { Channel } from "../domain/channel.ts";
import { Refusal } from "../domain/refusal.ts";
import { mayTalk } from "../domain/user.ts";
import type { RenamedThread } from "../domain/renamed-threads.ts";
import type { User } from "../domain/user.ts";
import { readVisitorToken } from "../domain/visitor-token.ts";
import type { TokenClaim } from "../domain/visitor-token.ts";
import type { PlainLog } from "../log.ts";
import type { VisitorAdmission } from "../store.ts";
import { mustDeclareAtMost } from "./arrival.ts";
import type { Arrival, RequestHead } from "./arrival.ts";
import type { Directory } from "./directory.ts";
import { addressReader, countedAs, networkOf } from "./client-address.ts";
import { mustAllow, provenanceOf } from "./origin.ts";
import type { Provenance } from "./origin.ts";
import type { RateUse, RateWindowName, RateWindows } from "./rate-windows.ts";

/**
 * Who may call the widget API: the one place for the order of its checks (contract, Order of the checks). An origin that
 * some web channel allows (403), the declared length (413), the address (403), the key or token (401), the channel's own
 * origins, the channel and the visitor (403), the rate (429).
 */
export interface WidgetAdmission {
  /** What a preflight is asked: the origin, and the length. */
  preflight(request: RequestHead): void;
  /** A page, by its channel's publishable key: it may ask for a visitor token. */
  page(arrival: Arrival): Channel;
  /** A visitor, as far as the request alone tells. The caller may read the body now, and must `admit` before it acts. */
  visitor(arrival: Arrival): ArrivingVisitor;
}

/** A visitor with something that looks like a token. */
export interface ArrivingVisitor {
  /** Rejects where `admit` would, but for the rate: before anything that costs more than a look at the store. */
  mustBeKnown(): Promise<void>;
  /** One use of the token: the checks that need the store, and the rate. */
  admit(use: VisitorUse): Promise<AdmittedVisitor>;
}

export interface VisitorUse {
  /** The rate windows in which this use counts. */
  counts: readonly RateWindowName[];
  /** The thread that the request names; null: none. */
  threadName: string | null;
}

export interface AdmittedVisitor {
  slug: string;
  user: User;
  /** As it is counted: an IPv6 by its /64. */
  address: string;
  /** Uid of the thread that was named; null if none was, or if it is not this visitor's. */
  threadUid: string | null;
  /** Whose token it is now: an account's, if the visitor was merged since. */
  userNow: () => Promise<User>;
  /** Threads that have another name for this token than for its account. */
  renamed: () => Promise<RenamedThread[]>;
}

export interface WidgetAdmissionDependencies {
  config: Pick<Config, "limits" | "clientIpSource" | "trustedProxyHops">;
  directory: Pick<Directory, "isKnown" | "isBlocked" | "channel" | "byPublishableKey">;
  visitors: {
    admit(claim: TokenClaim, threadName: string | null): Promise<VisitorAdmission | null>;
    renamedThreads(claim: TokenClaim): Promise<RenamedThread[]>;
  };
  windows: RateWindows;
  log: Pick<PlainLog, "warn">;
}

export function createWidgetAdmission(dependencies: WidgetAdmissionDependencies): WidgetAdmission {
  const { config, directory, windows } = dependencies;
  const addressOf = addressReader(config, dependencies.log);

  function knownOrigin(request: RequestHead): Provenance {
    const provenance = provenanceOf(request);
    if (!provenance || !directory.isKnown(provenance)) throw new Refusal("forbidden");
    mustDeclareAtMost(config.limits.maxBodyBytes, request);
    return provenance;
  }

  /** Everything that comes before the credential. */
  function approach(request: RequestHead): Approach {
    const provenance = knownOrigin(request);
    const address = addressOf(request);
    if (directory.isBlocked(address)) throw new Refusal("forbidden");
    return { provenance, address };
  }

  return {
    preflight(request) {
      knownOrigin(request);
    },

    page({ request, note }) {
      const { provenance, address } = approach(request);
      const channel = directory.byPublishableKey(request.headers.get("x-publishable-key") ?? "");
      if (!channel) throw new Refusal("unauthorized");
      note({ slug: channel.slug });
      mustAllow(channel, provenance);
      if (!channel.enabled) throw new Refusal("forbidden");
      countUse(windows, ["visitors-by-address"], { address, tokenHash: "" });
      return channel;
    },

    visitor({ request, note }) {
      const from = approach(request);
      const claim = readVisitorToken(request.headers.get("x-visitor-token") ?? "");
      if (!claim) throw new Refusal("unauthorized");
      const admit = (use: VisitorUse) => admitVisitor(dependencies, { from, claim, note, use });
      return {
        admit,
        mustBeKnown: async () => void (await admit({ counts: [], threadName: null })),
      };
    },
  };
}

/** Where a request comes from: an origin that some channel allows, and an address that is not blocked. */
interface Approach {
  provenance: Provenance;
  address: string;
}

async function admitVisitor(
  { directory, visitors, windows }: WidgetAdmissionDependencies,
  visit: { from: Approach; claim: TokenClaim; note: Arrival["note"]; use: VisitorUse },
): Promise<AdmittedVisitor> {
  const { from, claim, note, use } = visit;
  const { slug, tokenHash } = claim;
  // Nor could the store read an unreadable one.
  directory.channel(slug);
  const admission = await visitors.admit(claim, use.threadName);
  const channel = directory.channel(slug);
  if (!admission || !channel) throw new Refusal("unauthorized");

  const { user, threadUid } = admission;
  note({ slug, userId: user.userId });
  mustAllow(channel, from.provenance);
  if (!mayTalk(admission.channel, user)) throw new Refusal("forbidden");
  countUse(windows, use.counts, { address: from.address, tokenHash });
  const renamed = () => visitors.renamedThreads(claim);
  return { slug, user, address: countedAs(from.address), threadUid, userNow, renamed };

  async function userNow(): Promise<User> {
    const again = await visitors.admit(claim, null);
    if (!again) throw new Refusal("unauthorized");
    return again.user;
  }
}

/** Windows that count addresses, and those that count their networks beside them. */
const NETWORK_WINDOW: ReadonlyMap<RateWindowName, RateWindowName> = new Map([
  ["messages-by-address", "messages-by-network"],
  ["visitors-by-address", "visitors-by-network"],
  ["reads-by-address", "reads-by-network"],
]);

/** Throws Refusal("rate-limited") if one of the windows is full; the use then counts in none of them. */
function countUse(
  windows: RateWindows,
  names: readonly RateWindowName[],
  { address, tokenHash }: { address: string; tokenHash: string },
): void {
  const network = networkOf(address);
  const uses = names.flatMap((window): RateUse[] => {
    const wider = NETWORK_WINDOW.get(window);
    if (wider === undefined) return [{ window, key: tokenHash }];
    const own = { window, key: countedAs(address) };
    return network === null ? [own] : [own, { window: wider, key: network }];
  });
  const waitSeconds = windows.take(uses);
  if (waitSeconds !== null) throw new Refusal("rate-limited", "", waitSeconds);
}
