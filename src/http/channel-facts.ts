import type { Directory } from "../admission/directory.ts";
import type { Config } from "../config.ts";
import { allowsHandOff } from "../domain/hand-off.ts";
import { jsonAnswer } from "./route.ts";
import type { Route } from "./route.ts";

/**
 * GET /widget/v1/channel?key=pk_…: what a page may offer a visitor before it has a token. It is as public as the element's
 * script beside it and the page that contains the key: for an unknown key it answers as for a channel that allows nothing.
 * It needs no store call.
 */
export function channelFactsRoute(dependencies: {
  directory: Pick<Directory, "byPublishableKey">;
  config: Pick<Config, "limits">;
}): Route {
  const { directory, config } = dependencies;
  return {
    method: "GET",
    path: "/widget/v1/channel",
    api: "open",
    documentation: "hidden",
    async handle({ request }) {
      const channel = directory.byPublishableKey(new URLSearchParams(request.query).get("key") ?? "");
      const takesImages = channel?.enabled === true && channel.agent.images === true;
      const handsOff = channel?.enabled === true && allowsHandOff(channel);
      const { maxBodyBytes } = config.limits;
      const answer = jsonAnswer(200, {
        maxBodyBytes,
        ...(takesImages ? { images: true } : {}),
        ...(handsOff ? { handoff: true } : {}),
      });
      const headers = {
        ...answer.headers,
        "cache-control": "public, max-age=60",
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
      };
      return { ...answer, headers };
    },
  };
}
