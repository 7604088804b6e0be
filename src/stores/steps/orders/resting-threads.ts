import type { ChannelThreadStore, RestingThread } from "../../../store/channel-threads.ts";
import type { ThreadPlace } from "../../../store/users.ts";
import type { Engine } from "../../engine.ts";
import { isThreadState } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import { isDeleted } from "../threads/facts.ts";
import { glanceAt } from "../threads/glance.ts";
import type { OrderWrites } from "./order-writes.ts";
import { placesBehind } from "./places.ts";

/** The low end of the channel's order. A thread that stands too low there is corrected and left out. */
export function restingThreadSteps(
  engine: Engine,
  { met }: Pick<OrderWrites, "met">,
): Pick<ChannelThreadStore, "restingThreads"> {
  return {
    async restingThreads(slug, { untilMs, limit, after }) {
      const page = { after, sinceMs: 0, untilMs, limit, oldestFirst: true };
      const places = await placesBehind(engine, tables.activity.key(slug), page);
      const threads = (await Promise.all(places.map((place) => lookAt(engine, place)))).flat();
      for (const thread of threads) if (thread.updatedAtMs > untilMs) met(slug, thread);
      const items = threads.filter(({ updatedAtMs }) => updatedAtMs <= untilMs);
      return { items, next: places.length < limit ? null : (places.at(-1) ?? null) };
    },
  };
}

/** The revision first: a message between the two reads changes it. Empty: a newer version's state cannot be judged. */
async function lookAt(engine: Engine, { uid, atMs }: ThreadPlace): Promise<RestingThread[]> {
  const [[rev, fence, known]] = await engine.read([
    { read: "fields", key: tables.header.key(uid), fields: [HEADER.rev, HEADER.fence, HEADER.state] },
  ]);
  if (known && !isThreadState(known)) return [];
  const { state, updatedAtMs } = await glanceAt(engine, { uid, threadId: "", createdAtMs: atMs });
  const thread = { uid, state, updatedAtMs };
  if (isDeleted({ fence: fence ?? null })) return [{ ...thread, isHeld: false, rev: null }];
  return [{ ...thread, isHeld: Boolean(fence), rev: Number(rev ?? 0) }];
}
