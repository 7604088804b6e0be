/** A receiver of a channel's events, as people write it. */
export interface WebhookField {
  url: string;
  /** `whsec_…`, or `$NAME` of a variable that holds one. */
  secret: string;
  /** Absent: all of them. */
  events?: WebhookEvent[];
}

export const WEBHOOK_EVENTS = [
  "message.created",
  "run.ended",
  "handoff.requested",
  "handoff.taken",
  "handoff.returned",
  "user.identified",
  "user.deleted",
  "thread.deleted",
  "feedback.given",
] as const;

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Does an endpoint hear of this event? */
export function hears({ events }: Pick<WebhookField, "events">, event: WebhookEvent): boolean {
  return events === undefined || events.includes(event);
}

/**
 * An event as a commit writes it down: what happened, without what can be read later. `data` is what the body has beside
 * the thread and its owner.
 */
export interface ToldEvent {
  /** The webhook-id. */
  id: string;
  type: WebhookEvent;
  atMs: number;
  /** The item of the history that it tells of. */
  messageId?: string;
  data: Record<string, unknown>;
}

/** An event for those of a channel's endpoints that hear of it. */
export interface Telling {
  event: ToldEvent;
  endpoints: string[];
}
