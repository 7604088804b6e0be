import type { Config } from "../config.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { Refusal } from "../domain/refusal.ts";
import { mayTalk } from "../domain/people/user.ts";
import type { RenamedThread } from "../domain/threads/renamed-threads.ts";
import type { User } from "../domain/people/user.ts";
import { readVisitorToken } from "../domain/people/visitor-token.ts";
import type { TokenClaim } from "../domain/people/visitor-token.ts";
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
 * Admission to the widget API, the one place for the order of its checks (contract, Order of the checks): an origin that any
 * web channel allows (403), the declared length (413), the address (403), the key or token (401), the channel's own origins,
 * the channel and the visitor (403), the rate (429).
 */
export interface WidgetAdmission {
  /** The checks of a preflight: the origin, and the length. */
  preflight(request: RequestHead): void;
  /** A page, by its channel's publishable key: it may ask for a visitor token. */
  page(arrival: Arrival): Channel;
  /** The checks of a visitor that need no store. After it the caller may read the body; before it acts, it must `admit`. */
  visitor(arrival: Arrival): ArrivingVisitor;
}

/** A visitor whose token is well-formed, but not checked yet. */
export interface ArrivingVisitor {
  /** Rejects as `admit` would, except for the rate; for use before anything more expensive than a store call. */
  mustBeKnown(): Promise<void>;
  /** Uses the token: the checks that need the store, and the rate. */
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
  /** Counts the request in further windows, once it is known what it does. Throws Refusal("rate-limited"). */
  alsoCounts: (windows: readonly RateWindowName[]) => void;
  /** The address as it is counted: an IPv6 address by its /64. */
  address: string;
  /** The uid of the named thread; null if none was named, or if it is not this visitor's. */
  threadUid: string | null;
  /** When the token ends whatever its use; null: use alone extends it. */
  endsAtMs: number | null;
  /** The token's present user: an account, if the visitor was merged. */
  userNow: () => Promise<User>;
  /** Threads whose name for this token differs from the name for its account. */
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

  /** The checks before the credential. */
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

/** A request's source, checked: an origin that some channel allows, and an address that is not blocked. */
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
  // Throws for an unreadable channel, which the store could not read either.
  directory.channel(slug);
  const admission = await visitors.admit(claim, use.threadName);
  const channel = directory.channel(slug);
  if (!admission || !channel) throw new Refusal("unauthorized");

  const { user, threadUid, endsAtMs = null } = admission;
  note({ slug, userId: user.userId });
  mustAllow(channel, from.provenance);
  if (!mayTalk(admission.channel, user)) throw new Refusal("forbidden");
  const alsoCounts = (names: readonly RateWindowName[]) =>
    countUse(windows, names, { address: from.address, tokenHash });
  alsoCounts(use.counts);
  const renamed = () => visitors.renamedThreads(claim);
  const address = countedAs(from.address);
  return { slug, user, alsoCounts, address, threadUid, endsAtMs, userNow, renamed };

  async function userNow(): Promise<User> {
    const again = await visitors.admit(claim, null);
    if (!again) throw new Refusal("unauthorized");
    return again.user;
  }
}

/** The windows that count addresses, each with the window that counts their networks. */
const NETWORK_WINDOW: ReadonlyMap<RateWindowName, RateWindowName> = new Map([
  ["messages-by-address", "messages-by-network"],
  ["tool-results-by-address", "tool-results-by-network"],
  ["files-by-address", "files-by-network"],
  ["ratings-by-address", "ratings-by-network"],
  ["visitors-by-address", "visitors-by-network"],
  ["reads-by-address", "reads-by-network"],
]);

/** Throws Refusal("rate-limited") if one of the windows is full; the use is then counted in none of them. */
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
