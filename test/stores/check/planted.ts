import type { Rule } from "../../../src/stores/check/rules.ts";
import { slotOf } from "../../../src/stores/engine.ts";
import type { Engine, Pair, Write } from "../../../src/stores/engine.ts";
import { bucketOf, externalId, HEADER, tables, TOKEN, USER } from "../../../src/stores/tables.ts";
import { HOLDER } from "../backup/fill.ts";
import { sampleChannel, sampleMessage, SLUG } from "../samples.ts";

/** A fault in the store of backup/fill.ts, made past the service. */
export interface Planted {
  rule: Rule;
  /** Where it is seen, as the check prints it. */
  where: string[];
  /** Each in the slot of its key; or what has to be read first. */
  plant: Write[] | ((engine: Engine) => Promise<Write[]>);
  /** The repair cannot make it as it was. */
  isLossy?: true;
}

const BOT = "bot";
const HOUR_MS = 3_600_000;

const set = (key: string, ...fields: Pair[]): Write => ({ write: "set", key, fields });
const remove = (key: string, ...fields: string[]): Write => ({ write: "remove", key, fields });
const put = (key: string, member: string, score: number): Write => ({
  write: "put",
  key,
  members: [[member, score]],
});
const take = (key: string, ...members: string[]): Write => ({ write: "take", key, members });
const drop = (key: string): Write => ({ write: "drop", key });

const header = (uid: string) => tables.header.key(uid);
const held = (uid: string, process = HOLDER) => tables.held.key(bucketOf(uid), process);
const due = (uid: string) => tables.due.key(bucketOf(uid));
const user = (id: string) => tables.user.key(SLUG, id);
const token = (name: string) => tables.token.key(SLUG, name);
const message = (id: string) => `1\n${JSON.stringify(sampleMessage(1, { id }))}`;
const [users, blocked] = [tables.users.key(SLUG), tables.blocked.key(SLUG)];
const [activity, owners] = [tables.activity.key(SLUG), tables.owners.key(SLUG)];
const [activityOfBot, ownersOfBot] = [tables.activity.key(BOT), tables.owners.key(BOT)];
const withPerson = tables.busy.key(SLUG, "with_person");
const ghost = tables.channel.key("ghost");

/** The token as it is, but without an end. */
async function endless(engine: Engine): Promise<Write[]> {
  const key = token("hash-ann");
  const [fields] = await engine.read([{ read: "hash", key }]);
  return [drop(key), set(key, ...fields)];
}

export const PLANTED: readonly Planted[] = [
  { rule: "listed user is gone", where: [user("nobody")], plant: [put(users, "nobody", 5)] },
  { rule: "user is not listed", where: [user("ann")], plant: [take(users, "ann")], isLossy: true },
  {
    rule: "external id leads to nobody",
    where: [
      tables.external.key(SLUG, externalId("zoe")),
      // Its promotion was stopped.
      tables.external.key(SLUG, externalId("ann's")),
    ],
    plant: [
      set(tables.external.key(SLUG, externalId("zoe")), ["user", "nobody"]),
      set(tables.external.key(SLUG, externalId("ann's")), ["user", "ann"]),
    ],
  },
  {
    rule: "account is not reached",
    where: [tables.user.key(BOT, "many")],
    plant: [drop(tables.external.key(BOT, externalId("many")))],
  },
  {
    rule: "token leads to nobody",
    where: [token("stray")],
    plant: [
      set(token("stray"), [TOKEN.user, "nobody"], [TOKEN.snapshot, "s"]),
      { write: "expire", key: token("stray"), inMs: HOUR_MS },
    ],
  },
  { rule: "token never ends", where: [token("hash-ann")], plant: endless, isLossy: true },
  {
    rule: "token is not listed",
    where: [token("hash-cid")],
    plant: [remove(tables.tokens.key(SLUG, "cid"), "hash-cid")],
  },
  {
    rule: "listed tokens of nobody",
    where: [tables.tokens.key(SLUG, "nobody")],
    plant: [set(tables.tokens.key(SLUG, "nobody"), ["hash-ann", ""])],
  },
  {
    rule: "thread names of nobody",
    where: [tables.names.key(SLUG, "nobody"), tables.days.key(SLUG, "nobody")],
    plant: [
      set(tables.names.key(SLUG, "nobody"), ["x", "u 1"]),
      set(tables.days.key(SLUG, "nobody"), ["2026-11-21", "7"]),
    ],
  },
  {
    rule: "channel is listed and not there",
    where: [tables.channel.key("spook")],
    plant: [set(tables.channels.key, ["spook", ""])],
  },
  {
    rule: "channel is not listed",
    where: [ghost],
    plant: [set(ghost, ["enabled", "1"], ["mode", "open"], ["json", JSON.stringify(sampleChannel())])],
    isLossy: true,
  },
  {
    rule: "hold of a thread that is not held so",
    where: [`${held("many-7", "p")} many-7`],
    plant: [set(held("many-7", "p"), ["many-7", "p:1"])],
  },
  { rule: "thread is held and not listed", where: [header("ann-two")], plant: [drop(held("ann-two"))] },
  {
    rule: "thread is held and not listed",
    where: [header("cid-two")],
    plant: [remove(tables.holders.key(bucketOf("cid-two")), HOLDER)],
  },
  {
    rule: "deadline of a thread that does not rest",
    where: [`${due("many-7")} many-7`],
    plant: [put(due("many-7"), "many-7", 5)],
  },
  { rule: "resting thread has no deadline", where: [header("bob-one")], plant: [drop(due("bob-one"))] },
  {
    rule: "resting thread has no deadline",
    where: [header("bob-one")],
    plant: [put(due("bob-one"), "bob-one", 5)],
  },
  {
    rule: "resting thread has no deadline",
    where: [header("bob-one")],
    plant: [set(header("bob-one"), [HEADER.dueAtMs, ""])],
    isLossy: true,
  },
  {
    rule: "part of a thread that is not there",
    where: [tables.messages.key("nowhere"), tables.claims.key("erased")],
    plant: [
      set(tables.messages.key("nowhere"), ["1", message("1")]),
      set(header("erased"), [HEADER.fence, "deleted:1"], [HEADER.op, "deleted"], [HEADER.deletedAtMs, "5"]),
      set(tables.claims.key("erased"), ["m1", "r1:hash"]),
    ],
    isLossy: true,
  },
  {
    rule: "waiting message has no text",
    where: [`${header("ann-two")} r2`],
    plant: [remove(tables.waiting.key("ann-two"), "r2")],
    isLossy: true,
  },
  {
    rule: "text of a message that does not wait",
    where: [`${tables.waiting.key("ann-two")} r9`],
    plant: [set(tables.waiting.key("ann-two"), ["r9", "no JSON"])],
  },
  {
    rule: "thread is not at its last activity",
    where: ["many-10", "many-8", "many-9"].map((uid) => `${activityOfBot} ${uid}`),
    plant: [
      put(activityOfBot, "many-10", 5),
      put(activityOfBot, "many-8", 8_000_000_000_000),
      take(activityOfBot, "many-9"),
    ],
  },
  {
    rule: "thread is not listed by its state",
    where: ["bob-one"],
    plant: [take(tables.busy.key(SLUG, "awaiting"), "bob-one")],
  },
  {
    rule: "thread is listed by a state that it is not in",
    where: [`${withPerson} cid-one`, `${withPerson} nowhere`],
    plant: [put(withPerson, "cid-one", 5), put(withPerson, "nowhere", 6)],
  },
  {
    rule: "listed thread is not there",
    where: [`${activity} nowhere`, `${activity} went`],
    plant: [
      put(activity, "nowhere", 5),
      put(activity, "went", 6),
      // Nothing is said of one that is just being deleted: an instance that was using it may list it once more.
      put(activity, "going", 7),
      put(withPerson, "going", 7),
      set(owners, ["went", "deleted 5"], ["going", `deleted ${Date.now() + HOUR_MS}`]),
    ],
    isLossy: true,
  },
  {
    rule: "owner of a thread is not listed",
    where: ["many-11", "many-12", "many-13"].map((uid) => `${ownersOfBot} ${uid}`),
    plant: [
      remove(ownersOfBot, "many-11"),
      set(ownersOfBot, ["many-12", "nobody x"], ["many-13", "many name 14"]),
    ],
  },
  {
    rule: "listed owner is of no thread",
    where: [`${owners} gone`],
    plant: [set(owners, ["gone", "ann gone"])],
  },
  { rule: "blocked user is not listed", where: [user("cid")], plant: [take(blocked, "cid")] },
  {
    rule: "listed user is not blocked",
    where: [`${blocked} ann`, `${blocked} nobody`],
    plant: [put(blocked, "ann", 5), put(blocked, "nobody", 6)],
  },
  {
    rule: "thread has no name",
    where: ["many-7"],
    plant: [remove(tables.names.key(BOT, "many"), "name 7")],
  },
  {
    rule: "messages wait and nobody holds the thread",
    where: ["ann-two: 2"],
    plant: [set(header("ann-two"), [HEADER.fence, ""]), drop(held("ann-two"))],
  },
  {
    rule: "message is out of its place",
    where: ["cid-one: message 700 has the id 7"],
    plant: [set(tables.messages.key("cid-one"), ["700", message("7")])],
  },
  {
    rule: "message is out of its place",
    where: ["bob-one: message 2 is missing", "many-7: message 1 is missing"],
    plant: [set(header("bob-one"), [HEADER.messages, "3"]), remove(tables.messages.key("many-7"), "1")],
  },
  {
    rule: "run is not listed",
    where: ["many-7: r1"],
    plant: [drop(tables.runs.key("many-7")), drop(tables.runOrder.key("many-7"))],
  },
  {
    rule: "run is not listed",
    where: ["bob-one: r8", "cid-one: r3"],
    plant: [put(tables.runOrder.key("bob-one"), "r8", 8), take(tables.runOrder.key("cid-one"), "r3")],
  },
  {
    rule: "record cannot be read",
    where: [
      "Cannot read the message at cid-one: it is no object",
      user("kim"),
      `${tables.audit.key} 5`,
      `${tables.operators.key} Zoë`,
      tables.channel.key(SLUG),
    ],
    plant: [
      set(tables.messages.key("cid-one"), ["701", "1\nno JSON"]),
      set(user("kim"), [USER.attributes, "no JSON"]),
      put(tables.audit.key, "5 {}", 5),
      set(tables.operators.key, ["Zoë", "{}"]),
      set(tables.channel.key(SLUG), ["json", "{}"]),
    ],
  },
];

/** Beside it nothing else is told of. */
export const RESTORING: Planted = {
  rule: "restore has not ended",
  where: [tables.restoring.key],
  plant: [set(tables.restoring.key, ["sha256", ""])],
};

/** A store without users whose records are gone: their threads have lost their names. */
export const GONE_USER: Write = drop(user("ann"));

export async function plant(engine: Engine, { plant: planted }: Pick<Planted, "plant">): Promise<void> {
  const writes = typeof planted === "function" ? await planted(engine) : planted;
  for (const write of writes) await engine.apply({ slot: slotOf(write.key), checks: [], writes: [write] });
}
