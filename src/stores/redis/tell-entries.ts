import type { Telling } from "../../domain/webhook.ts";

/** What a step writes down for webhooks: of each event its place, an endpoint and the text. */
export function tellEntries(tells: readonly Telling[] = []): string[] {
  return tells.flatMap(({ event, endpoints }, nth) => {
    const text = JSON.stringify(event);
    return endpoints.flatMap((endpoint) => [String(nth + 1), endpoint, text]);
  });
}
