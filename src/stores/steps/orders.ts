import { systemTimers } from "../../clock.ts";
import type { Timers } from "../../clock.ts";
import type { ChannelThreadStore, UserStore } from "../../store.ts";
import type { StepsContext } from "./context.ts";
import { channelThreadSteps } from "./orders/channel-threads.ts";
import { createOrderWrites } from "./orders/order-writes.ts";
import type { OrderWrites } from "./orders/order-writes.ts";
import { restingThreadSteps } from "./orders/resting-threads.ts";
import { tidyStates } from "./orders/state-lists.ts";
import { threadListSteps } from "./orders/thread-list.ts";

/** A channel's threads in order, and a user's list of them. */
export interface OrderSteps
  extends
    ChannelThreadStore,
    Pick<UserStore, "listThreads">,
    Pick<OrderWrites, "committing" | "changed" | "close"> {
  /** Removes threads from lists that they no longer belong to, such as those that a dead process has left. */
  tidy(): Promise<void>;
}

export function orderSteps(context: StepsContext, timers: Timers = systemTimers): OrderSteps {
  const { engine } = context;
  const writes = createOrderWrites(engine, timers);
  return {
    ...channelThreadSteps(context, writes),
    ...restingThreadSteps(engine, writes),
    ...threadListSteps(engine, writes),
    committing: writes.committing,
    changed: writes.changed,
    tidy: () => tidyStates(engine),
    close: writes.close,
  };
}
