import type { Directory } from "../../admission/directory.ts";
import { provenanceOf } from "../../admission/origin.ts";
import type { HttpAnswer, HttpRequest } from "../../listener.ts";
import { endpoint } from "../endpoint.ts";
import { RUN_ID_HEADER } from "../stream/stream-answer.ts";
import { DROPPED_TOOLS_HEADER } from "./dropped-tools.ts";

const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "GET, POST, OPTIONS",
  "access-control-allow-headers": "content-type, x-visitor-token, x-publishable-key",
  "access-control-max-age": "600",
};

/** OPTIONS /v1/widget/*: may a page of this origin call the widget API at all? */
export const preflight = endpoint({
  method: "OPTIONS",
  path: "/v1/widget/*",
  credential: "origin",
  summary: "CORS preflight",
  description: "Sent by browsers before a request. 204 where the Origin belongs to a web channel.",
  answers: {
    204: {
      description: "The origin belongs to a web channel",
      headers: { "access-control-allow-origin": "The request's Origin", ...PREFLIGHT_HEADERS },
      body: null,
    },
  },
  refusals: { forbidden: "The origin belongs to no web channel" },
  handle: async () => ({ status: 204, headers: PREFLIGHT_HEADERS }),
});

/** The headers that a page may read, besides those that browsers always show. */
const EXPOSED = `retry-after, ${RUN_ID_HEADER}`;

/**
 * Lets pages of known origins read an answer, including streams, errors and unknown paths. `vary` always tells caches
 * that the answer depends on the Origin.
 */
export function withCors(
  answer: HttpAnswer,
  request: HttpRequest,
  options: { directory: Pick<Directory, "isKnown">; isForeign: boolean },
): HttpAnswer {
  const { vary } = answer.headers;
  const headers: Record<string, string> = {
    ...answer.headers,
    vary: vary === undefined ? "Origin" : `Origin, ${vary}`,
  };
  const provenance = provenanceOf(request);
  if (provenance?.type === "origin" && !options.isForeign && options.directory.isKnown(provenance)) {
    headers["access-control-allow-origin"] = provenance.origin;
    const more = DROPPED_TOOLS_HEADER in answer.headers ? `, ${DROPPED_TOOLS_HEADER}` : "";
    if (request.method !== "OPTIONS") headers["access-control-expose-headers"] = `${EXPOSED}${more}`;
  }
  return { ...answer, headers };
}
