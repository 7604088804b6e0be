/** A receiver of a channel's events, as it is configured. */
export interface WebhookField {
  url: string;
  /** `whsec_…`, or `$NAME` of a variable that holds one. */
  secret: string;
  /** Absent: all events. */
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

/** Does an endpoint get this event? */
export function hears({ events }: Pick<WebhookField, "events">, event: WebhookEvent): boolean {
  return events === undefined || events.includes(event);
}

/**
 * An event as a commit stores it: without anything that can be read later. `data`: the fields of the body besides the thread
 * and its owner.
 */
export interface ToldEvent {
  /** The webhook-id. */
  id: string;
  type: WebhookEvent;
  atMs: number;
  /** The history item that it is about. */
  messageId?: string;
  data: Record<string, unknown>;
}

/** An event, and those of the channel's endpoints that get it. */
export interface Telling {
  event: ToldEvent;
  endpoints: string[];
}
