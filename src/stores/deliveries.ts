import type { Delivery } from "../store/outbox.ts";
import { isNumber, isText, kindOf, nullable, shape } from "./checks.ts";

/** Attempts to deliver to a webhook, as both stores keep them. */
export const deliveryKind = kindOf(
  "delivery",
  shape<Delivery>({
    id: isText,
    event: isText,
    atMs: isNumber,
    attempt: isNumber,
    status: nullable(isNumber),
    fault: nullable(isText),
    elapsedMs: isNumber,
  }),
);

export const readDelivery = deliveryKind.read;
