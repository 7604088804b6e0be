import type { Directory } from "../admission/directory.ts";
import { comesFrom, provenanceOf } from "../admission/origin.ts";
import type { Provenance } from "../admission/origin.ts";
import type { RefusedOrigins } from "../admission/refused-origins.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../clock.ts";
import { unreadMs } from "../domain/channels/webhook.ts";
import { peopleNow } from "../domain/threads/hand-off.ts";
import type { HttpRequest } from "../listener.ts";
import type { ChannelFacts } from "../protocol/channel-facts.ts";
import { jsonAnswer } from "./route.ts";
import type { Route } from "./route.ts";

/**
 * GET /widget/v1/channel?key=pk_…: what a page may offer a visitor before it has a token. It is as public as the element's
 * script beside it and the page that contains the key: for an unknown key it answers as for a channel that allows nothing.
 * It needs no store call.
 *
 * `originAllowed: false`: the channel does not allow the page's origin, so that the page can say so before a visitor has
 * written anything. A browser tells the page nothing else: a refusal for a foreign origin cannot be read there.
 */
export function channelFactsRoute(dependencies: {
  directory: Pick<Directory, "byPublishableKey">;
  config: Pick<Config, "limits" | "files">;
  refusedOrigins: RefusedOrigins;
  clock: Pick<Clock, "now">;
}): Route {
  const { directory, config, refusedOrigins, clock } = dependencies;
  return {
    method: "GET",
    path: "/widget/v1/channel",
    api: "open",
    documentation: "hidden",
    async handle({ request }) {
      const channel = directory.byPublishableKey(new URLSearchParams(request.query).get("key") ?? "");
      const takesImages = channel?.enabled === true && channel.agent.images === true;
      const people = channel?.enabled === true ? peopleNow(channel, clock.now()) : null;
      const provenance = pageOf(request);
      const isForeign =
        channel !== null && provenance !== null && !comesFrom(provenance, channel.allowedOrigins);
      if (isForeign && provenance.type === "origin") refusedOrigins.note(provenance.origin, channel.slug);
      const { maxBodyBytes } = config.limits;
      const { whileRunning = "queue" } = channel?.agent ?? {};
      const facts: ChannelFacts = {
        maxBodyBytes,
        ...(channel?.enabled === true && whileRunning !== "queue" ? { whileRunning } : {}),
        ...(takesImages ? { images: true } : {}),
        ...(channel?.enabled === true && channel.agent.files !== false
          ? { fileBytes: config.files.maxBytes }
          : {}),
        ...(people?.type === "there" ? { handoff: true } : {}),
        ...(people?.type === "away" && people.againAtMs !== null ? { peopleAgainAt: people.againAtMs } : {}),
        ...(channel?.enabled === true && unreadMs(channel.webhooks) !== null ? { tellsUnread: true } : {}),
        ...(isForeign ? { originAllowed: false } : {}),
      };
      const answer = jsonAnswer(200, facts);
      const headers = {
        ...answer.headers,
        // Private: the answer may depend on headers by which shared caches do not tell requests apart.
        "cache-control": "private, max-age=60",
        vary: "Origin",
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
      };
      return { ...answer, headers };
    },
  };
}

/**
 * The page that asks; null if nothing tells it, as for any program that is no browser. Of a page of the service's own
 * origin, older browsers send only the Referer.
 */
function pageOf(request: HttpRequest): Provenance | null {
  const provenance = provenanceOf(request);
  if (provenance !== null) return provenance;
  const referer = request.headers.get("referer");
  return referer !== undefined && URL.canParse(referer)
    ? { type: "origin", origin: new URL(referer).origin }
    : null;
}
