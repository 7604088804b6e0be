import type { About, Exchange } from "../clients/exchange.ts";
import type { Watch, Watcher } from "./watcher.ts";

/** With a run that is named: the thread may have it no more. */
const NAMED = [200, 404];

function allowedFor(about: About): readonly number[] {
  if (about.type === "follow" && about.runId !== null) return NAMED;
  // What it would replace may be in another branch by then.
  if (about.type === "say" && about.replaces !== undefined) return [...STATUSES.say, 404];
  return STATUSES[about.type];
}

/** What each request may be answered, besides 503. */
const STATUSES: Record<About["type"], readonly number[]> = {
  say: [200, 429],
  again: [200, 404, 429],
  instruct: [201, 409],
  approve: [204, 409],
  answer: [200, 409],
  follow: [200, 204],
  cancel: [204],
  catalog: [204],
  history: [200],
  identify: [200, 409],
  // 404: nothing is stored of the thread yet. 429: the visitor waits in three other threads.
  ask: [204, 404, 429],
  "stop waiting": [204],
  take: [200, 404, 409],
  write: [201, 404, 409],
  "give back": [200, 404, 409],
  delete: [202, 204, 404],
  "delete user": [202, 404],
  mint: [201],
  thread: [201],
};

/**
 * statuses: requests that are right are answered as the spec says; a token and a thread that were made stay.
 * a-result-is-saved: the 200 of a result comes after its save. only-the-pending-call: a result for another call, or of
 * another tool, is refused. a-catalog-is-saved: the 204 of a catalog comes after its save.
 * a-decision-is-saved: the 204 of an approval comes after its save, and no other one was.
 * one-run-for-an-id: what is asked for again under its id has the run that it had.
 * a-named-run-is-found: who re-attaches to a run that is there gets its stream.
 * one-account: a token belongs to one account, an account to one user, for good.
 */
export function watchAnswers({ ledger, deletions, report, world }: Watch): Watcher {
  const accounts = new Map<string, { userId: string; by: Exchange }>();
  const bindings = new Map<string, { externalId: string; by: Exchange }>();

  /** Acknowledged writes of the channels may be gone: whose a token and a thread are is among them. */
  let lostChannelsAtMs = -Infinity;

  function isChannelAstray({ instance, sentAtMs }: Exchange, sinceMs = sentAtMs): boolean {
    const nodes = [world.cluster.ofChannel("shop"), world.cluster.ofChannel("cli")];
    return lostChannelsAtMs >= sinceMs || nodes.some((node) => node.wasAstray(instance, sentAtMs));
  }

  function checkAnswered(exchange: Exchange, status: number): void {
    const { about } = exchange;
    const uid = "uid" in about ? about.uid : null;
    const who = `${exchange.client}'s ${about.type} ${exchange.nth} at ${exchange.instance}`;
    const allowed = allowedFor(about);
    if (isOfDeletedUser(about) || mayHaveEnded(about, status)) return;
    if (status !== 503 && !allowed.includes(status) && !isChannelAstray(exchange, 0)) {
      return report("statuses", uid, `${who} is answered ${status}`);
    }
    if (about.type === "answer" && status === 200) {
      if (about.isWrong) return report("only-the-pending-call", uid, `${who} is taken`);
      if (!ledger.isAnswered(about.callId))
        report("a-result-is-saved", uid, `${who} is taken, and not saved`);
    }
    if (about.type === "approve" && status === 204 && !ledger.isDisturbed(about.uid, exchange.sentAtMs)) {
      const stored = ledger.decisionOn(about.callId)?.approved;
      if (stored !== about.approved)
        report("a-decision-is-saved", about.uid, `${who} is taken, and ${String(stored)} is saved`);
    }
    if (about.type === "follow" && status === 404) checkMissed(exchange, about);
    if (about.type === "catalog" && status === 204 && !ledger.isDisturbed(about.uid, exchange.sentAtMs)) {
      const isSaved = ledger.truth(about.uid).catalogs.some(({ catalog }) => catalog === about.catalog);
      if (!isSaved) report("a-catalog-is-saved", uid, `${who} is taken, and not saved`);
    }
  }

  /** Its token ends, whenever that is. */
  function isOfDeletedUser(about: About): boolean {
    return (about.type === "identify" || about.type === "thread") && deletions.isTokenAsked(about.token);
  }

  /** Its token was unused for too long. */
  function mayHaveEnded({ type }: About, status: number): boolean {
    return world.plan.retention !== null && status === (type === "identify" ? 404 : 401);
  }

  /** By thread and id: the run of the first answer. */
  const runsOfIds = new Map<string, { runId: string; sentAtMs: number }>();

  function checkRepeated({ about, status, runId: ofStream, body, sentAtMs, client, nth }: Exchange): void {
    if (about.type !== "again" && about.type !== "instruct") return;
    if (status !== 200 && status !== 201) return;
    const runId = about.type === "again" ? ofStream : (JSON.parse(body) as { runId: string }).runId;
    if (runId === null) return;
    const key = `${about.uid} ${about.id}`;
    const first = runsOfIds.get(key);
    if (!first) return void runsOfIds.set(key, { runId, sentAtMs });
    if (first.runId === runId || ledger.isCut(about.uid, Math.min(first.sentAtMs, sentAtMs))) return;
    report(
      "one-run-for-an-id",
      about.uid,
      `${client}'s ${about.type} ${nth} is ${runId}, and was ${first.runId}`,
    );
  }

  /** A user's key is beside the user: who looks at a channel that is behind does not find it. */
  function isKeyAstray({ uid, by }: { uid: string | null; by: string }): boolean {
    const nodes = [world.cluster.ofChannel("shop"), world.cluster.ofChannel("cli")];
    return uid !== null && nodes.some((node) => node.wasAstray(by, 0));
  }

  function checkMissed(exchange: Exchange, { uid, runId }: Extract<About, { type: "follow" }>): void {
    const { instance, sentAtMs, client, nth } = exchange;
    const { queue, runs } = ledger.truth(uid);
    const isThere = runId !== null && (runs.has(runId) || queue.some((message) => message.runId === runId));
    const isAstray =
      world.cluster.ofThread(uid).wasAstray(instance, sentAtMs) || isChannelAstray(exchange, 0);
    if (!isThere || isAstray || ledger.isCut(uid, sentAtMs)) return;
    report("a-named-run-is-found", uid, `${client}'s follow ${nth} finds no ${runId}, which is there`);
  }

  function checkIdentified(exchange: Exchange): void {
    const { about, heardAtMs, body, status, sentAtMs } = exchange;
    if (about.type !== "identify" || status !== 200 || heardAtMs === null) return;
    const { userId } = JSON.parse(body) as { userId: string };
    const { token, externalId } = about;
    if (deletions.isAccountAsked(externalId)) return;
    const [account, binding] = [accounts.get(externalId), bindings.get(token)];
    const before = [account, binding].filter((one) => one !== undefined);
    // What a failover took may have been written before it, and heard of behind it.
    const firstMs = Math.min(sentAtMs, ...before.map(({ by }) => by.sentAtMs));
    if (![exchange, ...before.map(({ by }) => by)].some((one) => isChannelAstray(one, firstMs))) {
      if (account && account.userId !== userId) {
        report("one-account", null, `${externalId} is two users`);
      }
      if (binding && binding.externalId !== externalId) {
        report("one-account", null, `one token is ${binding.externalId}'s and ${externalId}'s`);
      }
    }
    accounts.set(externalId, { userId, by: exchange });
    bindings.set(token, { externalId, by: exchange });
  }

  return {
    see(happening) {
      const { type } = happening;
      if (type === "answered") checkAnswered(happening.exchange, happening.status);
      if (type === "closed") checkIdentified(happening.exchange);
      if (type === "closed" && !happening.exchange.isCut) checkRepeated(happening.exchange);
      if (type === "fault" && !isKeyAstray(happening))
        report("no-fault-of-our-own", happening.uid, `${happening.by}: ${happening.text}`);
      const isLoss = type === "writes lost" || type === "stragglers back";
      if (isLoss && world.plan.durability === "local") lostChannelsAtMs = world.time.nowMs;
    },
  };
}
