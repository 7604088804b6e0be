import type { About, Exchange } from "../clients/exchange.ts";
import { terminalOf } from "../clients/exchange.ts";
import type { Happening, UserLeft } from "../happening.ts";
import type { Watch, Watcher } from "./watcher.ts";

/** Which threads, accounts and tokens somebody has asked to delete: what they were promised otherwise is promised no more. */
export interface Deletions {
  /** Somebody has asked for it, or for its user's, or may have; or it is gone because of its age. */
  isAsked(uid: string): boolean;
  /** Somebody has asked for it, and not its age. */
  isWanted(uid: string): boolean;
  isUserWanted(userId: string): boolean;
  /** It goes because of its age. */
  isAged(uid: string): boolean;
  noteAged(uid: string): void;
  /** Its user is deleted, since somebody wants it. */
  noteWanted(uid: string): void;
  /** The token is, or may be, of a user who is deleted. */
  isTokenAsked(token: string): boolean;
  isAccountAsked(externalId: string): boolean;
  /** The account's user, as an operator would find it; undefined: nobody has identified as it. */
  userOf(externalId: string): string | undefined;
  /** No deletion is planned that is not carried out. */
  areOver(): boolean;
}

/** A deletion that was answered; `by`: at which instance. */
interface Deleted {
  askedAtMs: number;
  heardAtMs: number;
  by: string;
}

const GONE = [401, 404, 503];

/**
 * deleted-is-not-seen: what was asked for after a deletion's 202 or 204 was heard is not found, at any instance; the account's
 * name leads to another user. deleted-stays-deleted: nothing is written where a thread was erased, and at rest it is erased still
 * (the former by thread-truth.ts). deleted-is-asked: no stream says so of a thread that nobody deletes. a-deletion-ends: what is
 * planned is carried out, whoever died meanwhile.
 */
export function watchDeletions({
  ledger,
  report,
  world,
}: Pick<Watch, "ledger" | "report" | "world">): Watcher & Deletions {
  const threads = new Set<string>();
  const aged = new Set<string>();
  const wantedUsers = new Set<string>();
  const accounts = new Set<string>();
  /** Tokens by what they were to be identified as; whose a thread was made with. */
  const tokensAs = new Map<string, Set<string>>();
  const makers = new Map<string, string>();
  /** As identify has answered. */
  const users = new Map<string, string>();
  const bound = new Map<string, { userId: string; askedAtMs: number }>();
  /** When it was heard that a thread or a user is deleted, and when and of whom that was asked. */
  const deleted = new Map<string, Deleted>();
  let steps: { key: string; isEnd: boolean; position: number }[] = [];
  let lostAtMs = -Infinity;
  /** Users who were deleted, and their threads. */
  const left = new Map<string, string[]>();

  const isTokenAsked = (token: string) =>
    [...accounts].some((externalId) => tokensAs.get(externalId)?.has(token));

  function isWanted(uid: string): boolean {
    const maker = makers.get(uid);
    return threads.has(uid) || (maker !== undefined && isTokenAsked(maker));
  }

  const isAsked = (uid: string) => aged.has(uid) || isWanted(uid);

  function noteAsked({ about }: Exchange): void {
    if (about.type === "delete") threads.add(about.uid);
    if (about.type === "delete user") {
      accounts.add(about.externalId);
      wantedUsers.add(about.userId);
    }
    if (about.type !== "identify") return;
    const { externalId, token } = about;
    tokensAs.set(externalId, (tokensAs.get(externalId) ?? new Set()).add(token));
  }

  /** Acknowledged writes may be gone since then, or are among stragglers; or what was read is older. */
  function isExcused(
    { instance, sentAtMs }: Exchange,
    uid: string | null,
    { askedAtMs, by }: Deleted,
  ): boolean {
    const { cluster, plan } = world;
    const nodes = [cluster.ofInstances(), cluster.ofChannel("shop"), ...(uid ? [cluster.ofThread(uid)] : [])];
    const wasAstray = (process: string, sinceMs: number) =>
      nodes.some((node) => node.wasAstray(process, sinceMs));
    return (
      lostAtMs >= askedAtMs ||
      (plan.durability === "local" && wasAstray(by, askedAtMs)) ||
      wasAstray(instance, Math.min(sentAtMs, askedAtMs))
    );
  }

  function checkAnswered(exchange: Exchange, status: number): void {
    const { about, sentAtMs } = exchange;
    if (!("uid" in about) || GONE.includes(status)) return;
    // If who began to delete the thread itself died, it may be its user's no longer, and goes by that deletion.
    const owner = threads.has(about.uid) ? undefined : ownerOf(about.uid);
    for (const gone of [deleted.get(about.uid), owner === undefined ? undefined : deleted.get(owner)]) {
      if (!gone || sentAtMs <= gone.heardAtMs || isExcused(exchange, about.uid, gone)) continue;
      const who = `${exchange.client}'s ${about.type} ${exchange.nth} at ${exchange.instance}`;
      report("deleted-is-not-seen", about.uid, `${who} is answered ${status}`);
    }
  }

  /** Undefined: nobody was told, or what was told is lost. */
  function ownerOf(uid: string): string | undefined {
    const told = bound.get(makers.get(uid) ?? "");
    return told && told.askedAtMs > lostAtMs ? told.userId : undefined;
  }

  function checkClosed(exchange: Exchange): void {
    const { about, status, sentAtMs } = exchange;
    const last = terminalOf(exchange);
    const isTold = "uid" in about && last?.type === "error" && last.code === "deleted";
    // What stragglers wrote in it is lost, and with it when the thread is past its date.
    if (isTold && !isAsked(about.uid) && !ledger.isDisturbed(about.uid, sentAtMs))
      report("deleted-is-asked", about.uid, `${exchange.client}'s ${about.type} is told that it is deleted`);
    if (about.type === "thread" && status === 201 && exchange.body !== "")
      makers.set((JSON.parse(exchange.body) as { threadId: string }).threadId, about.token);
    if (about.type === "identify" && status === 200) noteIdentified(exchange, about);
  }

  function noteIdentified(
    exchange: Exchange,
    { token, externalId }: Extract<About, { type: "identify" }>,
  ): void {
    const { userId } = JSON.parse(exchange.body) as { userId: string };
    users.set(externalId, userId);
    bound.set(token, { userId, askedAtMs: exchange.sentAtMs });
    const gone = deleted.get(userId);
    if (gone && exchange.sentAtMs > gone.heardAtMs && !isExcused(exchange, null, gone))
      report("deleted-is-not-seen", null, `${externalId} is ${userId} again, who was deleted`);
  }

  function noteHeard({ about, instance, sentAtMs }: Exchange, status: number): void {
    if (status !== 202 && status !== 204) return;
    const gone = { askedAtMs: sentAtMs, heardAtMs: world.time.nowMs, by: instance };
    if (about.type === "delete") deleted.set(about.uid, gone);
    if (about.type === "delete user") deleted.set(about.userId, gone);
  }

  function noteStep({ step, deletion, where }: Extract<Happening, { type: "deletion" }>): void {
    const key = `${deletion.kind} ${deletion.id}`;
    if (where.position !== null) steps.push({ key, isEnd: step === "ended", position: where.position });
  }

  function openOnes(): string[] {
    const open = new Set<string>();
    for (const { key, isEnd } of steps) {
      if (isEnd) open.delete(key);
      else open.add(key);
    }
    return [...open];
  }

  function noteLeft({ userId, uids }: UserLeft): void {
    left.set(userId, [...(left.get(userId) ?? []), ...uids]);
  }

  /** What is ended was carried out before. */
  function checkEnded(): void {
    for (const { key, isEnd } of steps) {
      const [kind, id = ""] = key.split(" ");
      if (!isEnd) continue;
      if (kind === "user" && !left.has(id)) report("a-deletion-ends", null, "of a user, who is there still");
      for (const uid of kind === "user" ? (left.get(id) ?? []) : [id]) {
        if (!ledger.truth(uid).isErased) report("a-deletion-ends", uid, "it is ended, and not erased");
      }
    }
  }

  return {
    isAsked,
    isWanted,
    isUserWanted: (userId) => wantedUsers.has(userId),
    isAged: (uid) => aged.has(uid),
    noteAged: (uid) => void aged.add(uid),
    noteWanted: (uid) => void threads.add(uid),
    isTokenAsked,
    isAccountAsked: (externalId) => accounts.has(externalId),
    userOf: (externalId) => users.get(externalId),
    areOver: () => openOnes().length === 0,

    see(happening) {
      const { type } = happening;
      if (type === "asked") noteAsked(happening.exchange);
      if (type === "answered") checkAnswered(happening.exchange, happening.status);
      if (type === "heard") noteHeard(happening.exchange, happening.status);
      if (type === "closed") checkClosed(happening.exchange);
      if (type === "deletion") noteStep(happening);
      if (type === "user left" && happening.where.position !== null) noteLeft(happening.left);
      if (type === "writes lost" && happening.node === world.cluster.ofInstances())
        steps = steps.filter(({ position }) => position <= happening.kept);
      if ((type === "writes lost" || type === "stragglers back") && world.plan.durability === "local")
        lostAtMs = world.time.nowMs;
    },

    atRest() {
      for (const key of openOnes()) report("a-deletion-ends", null, `of ${key}: it is not carried out`);
      for (const id of deleted.keys()) {
        const askedAtMs = deleted.get(id)?.askedAtMs ?? 0;
        if (!threads.has(id) || lostAtMs >= askedAtMs || ledger.truth(id).isErased) continue;
        report("deleted-stays-deleted", id, "it was deleted, and is not erased");
      }
      if (lostAtMs === -Infinity) checkEnded();
    },
  };
}
