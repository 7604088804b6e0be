import type { Config } from "../config.ts";
import type { HttpAnswer } from "../listener.ts";
import type { Messengers } from "../messengers/messengers.ts";
import { UNSTORED } from "./route.ts";
import type { Route, RouteRequest } from "./route.ts";

const MESSENGER_PATH = "/v1/messengers/:slug";

/** What an instance has that answers platforms alone. */
export function isForMessengers({ path }: Pick<Route, "path">): boolean {
  return path === MESSENGER_PATH || path === "/health";
}

/**
 * POST /v1/messengers/:slug: what a platform sends; GET where it asks whether the address is ours. The platform's own
 * signature is its credential, which its adapter checks over the bytes as they came.
 */
export function messengerRoutes({
  messengers,
  config,
}: {
  messengers: Pick<Messengers, "receive">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route[] {
  async function handle({ request, params, note }: RouteRequest): Promise<HttpAnswer> {
    const { slug = "" } = params;
    note({ slug });
    const isPost = request.method.toUpperCase() === "POST";
    const body = await request.body(isPost ? config.serverMaxBodyBytes : 0);
    const query = request.query === "" ? "" : `?${request.query}`;
    // Adapters read the path and the query alone.
    const url = `https://messenger.invalid${request.path}${query}`;
    const headers = new Headers([...request.headers]);
    const asked = new Request(url, isPost ? { method: "POST", headers, body } : { headers });
    const response = await messengers.receive(slug, asked);
    const type = response.headers.get("content-type");
    const answer = Buffer.from(await response.arrayBuffer());
    return {
      status: response.status,
      headers: { ...UNSTORED, ...(type === null ? {} : { "content-type": type }) },
      ...(answer.length === 0 ? {} : { body: answer }),
    };
  }

  const common = { path: MESSENGER_PATH, api: "open", documentation: "hidden", handle } as const;
  return [
    { ...common, method: "POST" },
    { ...common, method: "GET" },
  ];
}
