import type { OutboxStore } from "../../store.ts";
import type { StepsContext } from "./context.ts";
import { outboxDeliveries } from "./outbox/deliveries.ts";
import { outboxEndpoints } from "./outbox/endpoints.ts";
import { outboxQueues } from "./outbox/queues.ts";
import { outboxTexts } from "./outbox/texts.ts";

/** Events for webhooks: the texts beside their threads, queues of references beside the channel. */
export function outboxSteps(context: StepsContext): OutboxStore {
  return {
    ...outboxTexts(context),
    ...outboxQueues(context),
    ...outboxDeliveries(context),
    ...outboxEndpoints(context),
  };
}
