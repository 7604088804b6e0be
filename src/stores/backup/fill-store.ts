import { holderOf } from "../../domain/threads/fence.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import type { Message } from "../../domain/threads/message.ts";
import type { Operator } from "../../domain/people/operator.ts";
import { RETIRED } from "../../store.ts";
import { slotOf } from "../engine.ts";
import type { Engine, Pair, Write } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { readMessage } from "../records/records.ts";
import { channelSteps } from "../steps/channels.ts";
import { contentKeySteps } from "../steps/content-keys.ts";
import { grouped } from "../steps/grouped.ts";
import { tellingFields } from "../steps/notice.ts";
import { operatorSteps } from "../steps/operators.ts";
import { ALL_BUCKETS, tables, USER } from "../tables.ts";
import { walk } from "../walk.ts";
import type { TableName } from "../walk.ts";
import { orderWrites, recordWrites, tokenWrites, wrappersOf } from "./record-writes.ts";
import type { BackupRecord, BackupToken, WholeThread } from "./records.ts";
import type { Restoring } from "./restoring.ts";

/** Fills an empty store; every write may be repeated (restore.ts). */

/** What an empty store has none of: users, what refers to them, and threads. */
const FILLED: ReadonlySet<TableName> = new Set<TableName>([
  "user",
  "users",
  "external",
  "names",
  "days",
  "token",
  "tokens",
  "header",
  "messages",
  "waiting",
  "runs",
  "runOrder",
  "parts",
  "claims",
]);

export async function isEmpty(engine: Engine): Promise<boolean> {
  for await (const page of walk(engine)) if (page.some(({ table }) => FILLED.has(table))) return false;
  return true;
}

/** Notes the restore, and removes the store's channels: until they are back no request is admitted. */
export async function begin(engine: Engine, restoring: Restoring): Promise<void> {
  const changeField = tellingFields(engine);
  await note(engine, restoring);
  for (const { slug } of restoring.channels) {
    await write(engine, [{ write: "drop", key: tables.channel.key(slug) }]);
    await changeField(tables.channels, slug, () => ({ to: null, answer: true }));
  }
}

/** After it, `restoring.done` records of the file are written. */
export async function put(
  engine: Engine,
  records: readonly BackupRecord[],
  { restoring, nowMs }: { restoring: Restoring; nowMs: number },
): Promise<void> {
  await write(
    engine,
    records.flatMap((record) => recordWrites(record, nowMs)),
  );
  const contentKeys = contentKeySteps(engine);
  for (const id of new Set(records.flatMap(wrappersOf))) await contentKeys.noteWrapper(id, "");
  const threads = records.filter((record) => record.type === "thread");
  const orders = await Promise.all(threads.map((thread) => writesOfOrder(engine, thread)));
  const tokens = records.filter((record) => record.type === "token");
  await write(engine, [...orders.flat(), ...(await writesOfTokens(engine, tokens, nowMs))]);
  await note(engine, restoring);
}

/** What is written last: until then no request is admitted. */
interface Last {
  channels: readonly Channel[];
  addresses: readonly string[];
  operators: readonly Operator[];
  /** Processes that held threads when the backup was taken. */
  holders: readonly string[];
}

/** Writes these, has the holders' threads taken over, and removes the note of the restore. */
export async function finish(engine: Engine, last: Last): Promise<void> {
  const channels = channelSteps({ engine });
  const operators = operatorSteps({ engine });
  for (const operator of last.operators) {
    // A start may have made its own `local` meanwhile.
    await operators.removeOperator(operator.name);
    await operators.addOperator(operator);
  }
  for (const address of last.addresses) await channels.blockIp(address);
  for (const channel of last.channels) await channels.putChannel(channel);
  // Only now may runs be taken over: their channels exist.
  await Promise.all(ALL_BUCKETS.map((bucket) => listIn(engine, bucket)));
  // As if they had retired: the others find them silent at their next beat, and take over their threads. An embedded
  // store has no heartbeats: all but the one process that serves it count as dead.
  if (engine.kind === "redis" && last.holders.length > 0) {
    const members = last.holders.map((holder) => [holder, Number(RETIRED)] as const);
    await write(engine, [{ write: "put", key: tables.instances.key, members, mode: "new" }]);
  }
  await write(engine, [{ write: "drop", key: tables.restoring.key }]);
}

/** One step for each slot: in each, the writes keep their order. */
async function write(engine: Engine, writes: readonly Write[]): Promise<void> {
  const slots = grouped(writes, ({ key }) => slotOf(key));
  const steps = [...slots].map(([slot, some]) => engine.apply({ slot, checks: [], writes: some }));
  await Promise.all(steps);
}

function note(engine: Engine, restoring: Restoring): Promise<void> {
  const fields: Pair[] = [["json", JSON.stringify(restoring)]];
  return write(engine, [{ write: "set", key: tables.restoring.key, fields }]);
}

/** Only those whose user exists: a user who came while the backup was taken may not be in it. */
async function writesOfTokens(
  engine: Engine,
  tokens: readonly BackupToken[],
  nowMs: number,
): Promise<Write[]> {
  const fields = [USER.id];
  const ofChannels = [...grouped(tokens, ({ slug }) => slug).values()].map(async (some) => {
    const users = await engine.read(
      some.map(({ slug, userId }) => {
        return { read: "fields" as const, key: tables.user.key(slug, userId), fields };
      }),
    );
    return some.filter((_, nth) => users[nth]?.[0]).flatMap((token) => tokenWrites(token, nowMs));
  });
  return (await Promise.all(ofChannels)).flat();
}

async function writesOfOrder(engine: Engine, thread: WholeThread): Promise<Write[]> {
  return orderWrites(thread, thread.messages.at(-1) ?? (await storedMessage(engine, thread)));
}

/** The last message of a long thread, whose messages came before it. */
async function storedMessage(
  engine: Engine,
  { uid, messagesFrom: last }: WholeThread,
): Promise<Message | null> {
  if (last === 0) return null;
  const key = tables.messages.key(uid);
  const [[entry]] = await engine.read([{ read: "page", key, from: last, to: last, limit: 1, budget: 0 }]);
  return entry ? readMessage(jsonValue(entry[1]), uid) : null;
}

/** Lists the deadlines and holds of a bucket's threads. */
async function listIn(engine: Engine, bucket: string): Promise<void> {
  const [due, held] = [tables.restoredDue.key(bucket), tables.restoredHeld.key(bucket)];
  for await (const members of engine.memberPages(due)) {
    await write(engine, [
      { write: "put", key: tables.due.key(bucket), members },
      { write: "take", key: due, members: members.map(([uid]) => uid) },
    ]);
  }
  for await (const holds of engine.hashPages(held)) {
    const holders = [...grouped(holds, ([, fence]) => holderOf(fence))];
    const listed = holders.map(([holder]): Pair => [holder, ""]);
    await write(engine, [
      // The holder is listed first, as a commit does it.
      { write: "set", key: tables.holders.key(bucket), fields: listed },
      ...holders.map(([holder, fields]): Write => {
        return { write: "set", key: tables.held.key(bucket, holder), fields };
      }),
      { write: "remove", key: held, fields: holds.map(([uid]) => uid) },
    ]);
  }
}
