import type { Directory } from "../../admission/directory.ts";
import { clientAddress, countedAs } from "../../admission/ip.ts";
import { comesFrom, provenanceOf } from "../../admission/origin.ts";
import type { Provenance } from "../../admission/origin.ts";
import type { WindowName, Windows } from "../../admission/windows.ts";
import type { Threads } from "../../actors/threads.ts";
import type { Visitors } from "../../actors/visitors.ts";
import type { Config } from "../../config.ts";
import type { Channel } from "../../domain/channel.ts";
import { Refusal } from "../../domain/refusal.ts";
import { looksLikeUid } from "../../domain/thread-uid.ts";
import { mayTalk } from "../../domain/user.ts";
import type { User } from "../../domain/user.ts";
import { readVisitorToken } from "../../domain/visitor-token.ts";
import type { HttpRequest } from "../../listener.ts";
import type { PlainLog } from "../../log.ts";
import type { RunsRead, ThreadRecord } from "../../store.ts";
import { taken } from "../body.ts";
import type { Reading } from "../body.ts";
import type { Asked } from "../route.ts";

/**
 * The one place for the order of the checks on a widget route (contract, Order of the checks), after the route and the
 * method: an origin that somebody allows (403), the declared length (413), the address (403), the key or token (401),
 * the channel's own origins, the channel and the visitor (403), the rate (429), the body (422, 413), the thread (404).
 */
export interface Gate {
  /** The checks that a preflight has: the origin, and the length. */
  preflight(request: HttpRequest): void;
  /** A page with a publishable key, for a first token. */
  admitPage(asked: Asked): Promise<Channel>;
  /** A visitor, and what the request says. */
  admitVisitor<Said>(asked: Asked, entrance: Entrance<Said>): Promise<Visitor & { said: Said }>;
  /** A visitor, what the request says, and the thread of this visitor that it names. */
  admitToThread<Said>(asked: Asked, entrance: ThreadEntrance<Said>): Promise<AtThread<Said>>;
}

export interface Entrance<Said> {
  /** The rate windows in which one request counts. */
  counts: readonly WindowName[];
  /** Reads body or query. Its refusal waits for its turn in the order; what it rejects with does not. */
  read: (request: HttpRequest) => Promise<Reading<Said>>;
}

export interface ThreadEntrance<Said> extends Entrance<Said> {
  threadName: (said: Said) => string;
  /** With which runs the route needs the thread's record, which is read in the tick of the admission; null: not at all. */
  loads: RunsRead | null;
}

export interface Visitor {
  slug: string;
  user: User;
}

export interface AtThread<Said> extends Visitor {
  said: Said;
  uid: string;
  /** The thread's record, on its way; absent where the name turned out not to be the uid. */
  loading?: Promise<ThreadRecord | null>;
}

/** The origin is some web channel's, but not this one's: refused without CORS headers (the spec, CORS). */
export class ForeignOrigin extends Refusal {
  constructor() {
    super("forbidden");
    this.name = "ForeignOrigin";
  }
}

export interface GateParts {
  config: Pick<Config, "limits" | "clientIpSource" | "trustedProxyHops">;
  directory: Pick<Directory, "isKnown" | "isBlocked" | "channel" | "byPublishableKey">;
  visitors: Pick<Visitors, "admit">;
  threads: Pick<Threads, "load">;
  windows: Windows;
  log: Pick<PlainLog, "warn">;
}

export function createGate(parts: GateParts): Gate {
  const { config, directory, visitors, threads, windows } = parts;
  const distrust = warnOnce(parts.log);

  function knownOrigin(request: HttpRequest): Provenance {
    const provenance = provenanceOf(request);
    if (!provenance || !directory.isKnown(provenance)) throw new Refusal("forbidden");
    if ((request.contentLength ?? 0) > config.limits.maxBodyBytes) throw new Refusal("too-large");
    return provenance;
  }

  /** Everything that comes before the credential. */
  function approach(request: HttpRequest): { provenance: Provenance; address: string } {
    const provenance = knownOrigin(request);
    const { address, distrusted } = clientAddress(request, config);
    if (distrusted) distrust(config.clientIpSource);
    if (directory.isBlocked(address)) throw new Refusal("forbidden");
    return { provenance, address };
  }

  function mustAllow(channel: Channel, provenance: Provenance): void {
    if (!comesFrom(provenance, channel.allowedOrigins)) throw new ForeignOrigin();
  }

  function countUse(names: readonly WindowName[], who: { tokenHash: string; address: string }): void {
    const uses = names.map((window) => ({
      window,
      key: window.endsWith("-by-address") ? countedAs(who.address) : who.tokenHash,
    }));
    const waitSeconds = windows.take(uses);
    if (waitSeconds !== null) throw new Refusal("rate-limited", "", waitSeconds);
  }

  async function admit<Said>(asked: Asked, entrance: Entrance<Said>, thread: ThreadEntrance<Said> | null) {
    const { request } = asked;
    const { provenance, address } = approach(request);
    const claim = readVisitorToken(request.headers.get("x-visitor-token") ?? "");
    if (!claim) throw new Refusal("unauthorized");
    const reading = await entrance.read(request);

    const name = thread && reading.ok ? thread.threadName(reading.value) : null;
    // A widget thread's id is its uid: the record leaves in the tick of the admission, so that both are one round trip.
    const runs = thread?.loads;
    const early = runs && name !== null && looksLikeUid(name) ? threads.load(name, runs) : null;
    // Whoever needs the record awaits it and meets its error; a refusal needs it no more.
    early?.catch(() => {});
    const admission = await visitors.admit(claim, name);
    const channel = directory.channel(claim.slug);
    if (!admission || !channel) throw new Refusal("unauthorized");

    const { user, threadUid } = admission;
    asked.note({ slug: claim.slug, userId: user.userId });
    mustAllow(channel, provenance);
    if (!mayTalk(admission.channel, user)) throw new Refusal("forbidden");
    countUse(entrance.counts, { tokenHash: claim.tokenHash, address });
    const said = taken(reading);
    return {
      visitor: { slug: claim.slug, user },
      said,
      threadUid,
      loading: threadUid === name ? early : null,
    };
  }

  return {
    preflight(request) {
      knownOrigin(request);
    },

    async admitPage(asked) {
      const { request } = asked;
      const { provenance, address } = approach(request);
      const channel = directory.byPublishableKey(request.headers.get("x-publishable-key") ?? "");
      if (!channel) throw new Refusal("unauthorized");
      asked.note({ slug: channel.slug });
      mustAllow(channel, provenance);
      if (!channel.enabled) throw new Refusal("forbidden");
      countUse(["visitors-by-address"], { tokenHash: "", address });
      await request.body(config.limits.maxBodyBytes);
      return channel;
    },

    async admitVisitor(asked, entrance) {
      const { visitor, said } = await admit(asked, entrance, null);
      return { ...visitor, said };
    },

    async admitToThread(asked, entrance) {
      const { visitor, said, threadUid, loading } = await admit(asked, entrance, entrance);
      if (threadUid === null) throw new Refusal("not-found");
      asked.note({ uid: threadUid });
      return { ...visitor, said, uid: threadUid, ...(loading ? { loading } : {}) };
    },
  };
}

/** A header without a trusted address is the operator's mistake or a client's try: told once, not once per request. */
function warnOnce(log: GateParts["log"]): (header: string) => void {
  let told = false;
  return (header) => {
    if (told) return;
    told = true;
    log.warn(
      { header },
      "a request had no client address at the trusted place of its header: its socket's counts",
    );
  };
}
