import type { Telling } from "../../domain/webhook.ts";

/** The events of a step for webhooks: for each event and endpoint the event's number, the endpoint and the text. */
export function tellEntries(tells: readonly Telling[] = []): string[] {
  return tells.flatMap(({ event, endpoints }, nth) => {
    const text = JSON.stringify(event);
    return endpoints.flatMap((endpoint) => [String(nth + 1), endpoint, text]);
  });
}
