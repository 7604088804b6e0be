import type { Clock } from "../../clock.ts";
import { holderOf } from "../../domain/fence.ts";
import type { Message } from "../../domain/message.ts";
import { RETIRED } from "../../store.ts";
import { slotOf } from "../engine.ts";
import type { Engine, Pair, Write } from "../engine.ts";
import { STORE_FORMAT } from "../format.ts";
import { jsonValue } from "../json-value.ts";
import { readMessage } from "../records.ts";
import { channelSteps } from "../steps/channels.ts";
import { contentKeySteps } from "../steps/content-keys.ts";
import { tellingFields } from "../steps/notice.ts";
import { operatorSteps } from "../steps/operators.ts";
import { ALL_BUCKETS, tables, USER } from "../tables.ts";
import { walk } from "../walk.ts";
import type { Reader, TableName } from "../walk.ts";
import { grouped } from "../steps/grouped.ts";
import { channelsOf } from "./read-store.ts";
import { orderWrites, recordWrites, tokenWrites, wrappersOf } from "./record-writes.ts";
import type { BackupRecord, BackupToken, WholeThread } from "./records.ts";
import { readRestoring } from "./restoring.ts";
import type { Restoring, RestoreTarget } from "./source.ts";

const RESTORING = tables.restoring.key;

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
  "lastRun",
  "parts",
  "claims",
]);

/** All of one slot are one step, and a step must end within a call's deadline. */
const RECORDS_AT_ONCE = 500;

/** The restore that has begun and not ended; null: none. */
export async function restoringOf(reader: Pick<Reader, "read">): Promise<Restoring | null> {
  // A start does not wait for a replica: it would not be able to say that there is none.
  const read = { read: "fields", key: RESTORING, fields: ["json"] } as const;
  const [[text = null]] = await reader.read([read], { durable: false });
  return text === null ? null : readRestoring(jsonValue(text), RESTORING);
}

/** A store as the target of a restore. */
export function restoreTarget(engine: Engine, clock: Clock): RestoreTarget {
  const channels = channelSteps({ engine });
  const operators = operatorSteps({ engine });
  const contentKeys = contentKeySteps(engine);
  const changeField = tellingFields(engine);

  /** One step for each slot: in each, the writes keep their order. */
  async function write(writes: readonly Write[]): Promise<void> {
    const slots = grouped(writes, ({ key }) => slotOf(key));
    const steps = [...slots].map(([slot, some]) => engine.apply({ slot, checks: [], writes: some }));
    await Promise.all(steps);
  }

  const note = (restoring: Restoring) =>
    write([{ write: "set", key: RESTORING, fields: [["json", JSON.stringify(restoring)]] }]);

  /** Only those whose user exists: a user who came while the backup was taken may not be in it. */
  async function writesOfTokens(tokens: readonly BackupToken[]): Promise<Write[]> {
    const bySlug = [...grouped(tokens, ({ slug }) => slug).values()];
    const writes = bySlug.map(async (some) => {
      const fields = [USER.id];
      const users = await engine.read(
        some.map(({ slug, userId }) => ({
          read: "fields" as const,
          key: tables.user.key(slug, userId),
          fields,
        })),
      );
      const nowMs = clock.now();
      return some.filter((_, nth) => users[nth]?.[0]).flatMap((token) => tokenWrites(token, nowMs));
    });
    return (await Promise.all(writes)).flat();
  }

  async function writesOfOrder(thread: WholeThread): Promise<Write[]> {
    return orderWrites(thread, thread.messages.at(-1) ?? (await storedMessage(thread)));
  }

  /** The last message of a long thread, whose messages came before it. */
  async function storedMessage({ uid, messagesFrom: last }: WholeThread): Promise<Message | null> {
    if (last === 0) return null;
    const key = tables.messages.key(uid);
    const [[entry]] = await engine.read([{ read: "page", key, from: last, to: last, limit: 1, budget: 0 }]);
    return entry ? readMessage(jsonValue(entry[1]), uid) : null;
  }

  /** Lists the deadlines and holds of a bucket's threads. */
  async function listIn(bucket: string): Promise<void> {
    const [due, held] = [tables.restoredDue.key(bucket), tables.restoredHeld.key(bucket)];
    for await (const members of engine.memberPages(due)) {
      await write([
        { write: "put", key: tables.due.key(bucket), members },
        { write: "take", key: due, members: members.map(([uid]) => uid) },
      ]);
    }
    for await (const holds of engine.hashPages(held)) {
      const holders = [...grouped(holds, ([, fence]) => holderOf(fence))];
      const listed = holders.map(([holder]): Pair => [holder, ""]);
      await write([
        // The holder is listed first, as a commit does it.
        { write: "set", key: tables.holders.key(bucket), fields: listed },
        ...holders.map(([holder, fields]): Write => {
          return { write: "set", key: tables.held.key(bucket, holder), fields };
        }),
        { write: "remove", key: held, fields: holds.map(([uid]) => uid) },
      ]);
    }
  }

  return {
    kind: engine.kind,
    recordsAtOnce: RECORDS_AT_ONCE,
    format: () => Promise.resolve(STORE_FORMAT),
    channels: () => channelsOf(engine),
    restoring: () => restoringOf(engine),

    async isEmpty() {
      for await (const page of walk(engine)) if (page.some(({ table }) => FILLED.has(table))) return false;
      return true;
    },

    async begin(restoring) {
      await note(restoring);
      for (const { slug } of restoring.channels) {
        await write([{ write: "drop", key: tables.channel.key(slug) }]);
        await changeField(tables.channels, slug, () => ({ to: null, answer: true }));
      }
    },

    async put(records, restoring) {
      const nowMs = clock.now();
      await write(records.flatMap((record) => recordWrites(record, nowMs)));
      for (const id of new Set(records.flatMap(wrappersOf))) await contentKeys.noteWrapper(id, "");
      const orders = await Promise.all(records.filter(isThread).map(writesOfOrder));
      const tokens = await writesOfTokens(records.filter(isToken));
      await write([...orders.flat(), ...tokens]);
      await note(restoring);
    },

    async finish({ channels: opened, addresses, operators: added, holders }) {
      for (const operator of added) {
        // A start may have made its own `local` meanwhile.
        await operators.removeOperator(operator.name);
        await operators.addOperator(operator);
      }
      for (const address of addresses) await channels.blockIp(address);
      for (const channel of opened) await channels.putChannel(channel);
      // Only now may runs be taken over: their channels exist.
      await Promise.all(ALL_BUCKETS.map(listIn));
      // As if they had retired: the others find them silent at their next beat, and take over their threads. An embedded
      // store has no heartbeats: all but the one process that serves it count as dead.
      if (engine.kind === "redis" && holders.length > 0) {
        const members = holders.map((holder) => [holder, Number(RETIRED)] as const);
        await write([{ write: "put", key: tables.instances.key, members, mode: "new" }]);
      }
      await write([{ write: "drop", key: RESTORING }]);
    },
  };
}

function isThread(record: BackupRecord): record is WholeThread {
  return record.type === "thread";
}

function isToken(record: BackupRecord): record is BackupToken {
  return record.type === "token";
}
