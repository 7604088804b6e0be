import type { Clock, Timers } from "../../clock.ts";
import { newId } from "../../domain/ids.ts";
import type { PlainLog } from "../../log.ts";
import type { InstanceMessage, Store } from "../../store.ts";
import { refuseRestoring, restoringOf } from "../backup/restoring.ts";
import { isObject } from "../checks.ts";
import type { Engine } from "../engine.ts";
import type { OutsideFiles } from "../files/outside-files.ts";
import { jsonValue } from "../records/json-value.ts";
import { tables } from "../tables.ts";
import { channelSteps } from "./channels.ts";
import { codecOn } from "./codec.ts";
import type { SealingOptions } from "./codec.ts";
import { contentKeySteps } from "./content-keys.ts";
import type { StepsContext } from "./context.ts";
import { deletionSteps } from "./deletions.ts";
import { instanceSteps } from "./instances.ts";
import { knowledgeSteps } from "./knowledge.ts";
import { operatorSteps } from "./operators.ts";
import { orderSteps } from "./orders.ts";
import { outboxSteps } from "./outbox.ts";
import { statsSteps } from "./stats.ts";
import { deskSteps } from "./threads/desk.ts";
import { threadSteps } from "./threads.ts";
import { userSteps } from "./users.ts";

/** The name under which a process listens for messages to it. */
const boxOf = (processId: string) => `i:${processId}`;
/** No process has this id. */
const ROTATED_TOKENS = boxOf("rotated");

interface StoreOptions extends SealingOptions {
  clock: Clock;
  timers?: Timers;
  log: Pick<PlainLog, "warn">;
  /** Where the bytes of files are; absent: in the store. */
  outside?: OutsideFiles | null | undefined;
  /** The store, in the words of a refusal. */
  where?: string;
}

/** The store on an engine; closing it closes the engine. Throws, and closes it, if the store is half restored. */
export async function storeOn(
  engine: Engine,
  { clock, timers, log, where = "here", outside = null, ...sealing }: StoreOptions,
): Promise<Store> {
  try {
    refuseRestoring(await restoringOf(engine), where);
  } catch (error) {
    await engine.close();
    throw error;
  }
  const codec = codecOn(engine, clock, sealing);
  const context: StepsContext = { engine, processId: newId(), clock, codec, outside };
  const { processId } = context;

  const changed = new Set<() => void>();
  const tellChange = () => changed.forEach((callback) => callback());
  let changeCount: number | null = null;
  const rotated = new Set<(tokenHash: string) => void>();
  const tellRotated = (tokenHash: string) => rotated.forEach((callback) => callback(tokenHash));
  let onMessage: (message: InstanceMessage) => void = () => {};

  await engine.listen(tables.changes.key, tellChange);
  await engine.listen(ROTATED_TOKENS, tellRotated);
  await engine.listen(boxOf(processId), (text) => {
    const message = jsonValue(text);
    if (isObject(message)) onMessage(message);
    else log.warn({ chars: text.length }, "a message between instances is no JSON object: ignored");
  });

  const orders = orderSteps(context, timers);
  const instances = instanceSteps(context, {
    // A notice may be lost, so each beat compares the count too.
    changeCount(count) {
      if (changeCount !== null && changeCount !== count) tellChange();
      changeCount = count;
    },
    // No caller waits for it: a list that is read does the same.
    forgotten: () => void orders.tidy().catch(() => {}),
  });

  return {
    kind: engine.kind,
    processId,
    ...channelSteps(context),
    ...userSteps(context, (tokenHash) => {
      // Directly, in case this process hears nothing at the moment.
      tellRotated(tokenHash);
      engine.tell(ROTATED_TOKENS, tokenHash);
    }),
    ...threadSteps(context, (commit) => orders.committing(commit)),
    ...deskSteps(context, orders.changed),
    ...deletionSteps(context),
    ...operatorSteps(context),
    ...statsSteps(context),
    ...instances,
    contentKeys: contentKeySteps(engine),
    knowledge: knowledgeSteps(context, (error) =>
      log.warn({ err: error }, "a record of documents cannot be read: they are read anew from their source"),
    ),
    outbox: outboxSteps(context),
    ...orders,

    async isRestoring() {
      const [isThere] = await engine.read([{ read: "exists", key: tables.restoring.key }]);
      return isThere;
    },

    ...(engine.kind === "redis" ? { timeMs: () => engine.timeMs() } : {}),
    onReconnect: (callback) => engine.onReconnect(callback),

    onChange(callback) {
      changed.add(callback);
      return () => changed.delete(callback);
    },

    onTokenRotated(callback) {
      rotated.add(callback);
      return () => rotated.delete(callback);
    },

    send: (to, message) => engine.tell(boxOf(to), JSON.stringify(message)),

    onMessage(handler) {
      onMessage = handler;
    },

    health: () => engine.health(),

    async close() {
      await orders.close();
      await engine.close();
    },
  };
}
