/** A receiver of a channel's events, as it is configured. */
export interface WebhookField {
  url: string;
  /** `whsec_…`, or `$NAME` of a variable that holds one. */
  secret: string;
  /** Absent: all events. */
  events?: WebhookEvent[];
  /** After so many minutes a reply that no page has shown is told: `reply.unread`. Absent: never. */
  unreadMinutes?: number;
  /** Secrets of before, which sign beside it for a while; the newest last. Absent: none. */
  olderSecrets?: OlderSecret[];
}

export interface OlderSecret {
  secret: string;
  untilMs: number;
}

/** How long an older secret signs, too: Standard Webhooks leaves it open, and receivers are changed by people. */
const OVERLAP_MS = 24 * 3_600_000;
/** A signature for each is in every request. */
const MOST_OLDER = 4;

/**
 * A channel's webhooks as they are written over the stored ones: an endpoint whose secret changes keeps the one before for
 * a day.
 */
export function withOlderSecrets(
  stored: readonly WebhookField[],
  written: readonly WebhookField[],
  nowMs: number,
): WebhookField[] {
  return written.map(({ olderSecrets: _, ...webhook }) => {
    const before = stored.find(({ url }) => url === webhook.url);
    if (before === undefined) return webhook;
    const { secret, olderSecrets = [] } = before;
    const isSame = secret === webhook.secret;
    const older = isSame
      ? olderSecrets
      : [...secretsStillValid(before, nowMs), { secret, untilMs: nowMs + OVERLAP_MS }]
          .filter((one) => one.secret !== webhook.secret)
          .slice(-MOST_OLDER);
    return older.length === 0 ? webhook : { ...webhook, olderSecrets: older };
  });
}

export function secretsStillValid(
  { olderSecrets = [] }: Pick<WebhookField, "olderSecrets">,
  nowMs: number,
): OlderSecret[] {
  return olderSecrets.filter(({ untilMs }) => nowMs < untilMs);
}

export const WEBHOOK_EVENTS = [
  "message.created",
  "run.ended",
  "handoff.requested",
  "handoff.taken",
  "handoff.returned",
  "handoff.missed",
  "handoff.rated",
  "reply.unread",
  "note.created",
  "user.identified",
  "user.deleted",
  "thread.deleted",
  "feedback.given",
] as const;

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Does an endpoint get this event? */
export function hears(
  { events, unreadMinutes }: Pick<WebhookField, "events" | "unreadMinutes">,
  event: WebhookEvent,
): boolean {
  // What operators note for themselves leaves the service only where somebody asked for it.
  if (event === "note.created") return events?.includes(event) === true;
  if (event === "reply.unread" && unreadMinutes === undefined) return false;
  return events === undefined || events.includes(event);
}

/** After how long a channel's unread replies are told: the shortest time that an endpoint has; null: never. */
export function unreadMs(webhooks: readonly WebhookField[] = []): number | null {
  const minutes = webhooks
    .filter((one) => hears(one, "reply.unread"))
    .map(({ unreadMinutes = Infinity }) => unreadMinutes);
  return minutes.length === 0 ? null : Math.min(...minutes) * 60_000;
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
