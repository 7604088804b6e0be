import { addressReader, countedAs } from "../admission/client-address.ts";
import { openWindow } from "../admission/rate-windows.ts";
import type { Agent } from "../agent.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { MCP_CALLBACK, MCP_CLIENT, mcpClientMetadata } from "../domain/channels/mcp-client.ts";
import { Refusal } from "../domain/refusal.ts";
import type { HttpAnswer } from "../listener.ts";
import type { PlainLog } from "../log.ts";
import { jsonAnswer, UNSTORED } from "./route.ts";
import type { Route, RouteRequest } from "./route.ts";

export interface McpSignInDependencies {
  config: Pick<Config, "clientIpSource" | "trustedProxyHops" | "publicUrl">;
  finishSignIn: NonNullable<Agent["finishSignIn"]>;
  clock: Clock;
  log: PlainLog;
}

/** Some authorization servers' codes are tokens. */
const LONGEST = 8_192;
/** Nobody is known who comes, and each costs reads of the store. */
const MOST_OF_ADDRESS = 30;
const MINUTE_MS = 60_000;

const DONE = "You are signed in. You can close this page and go back to the chat.";
const REFUSED = "You were not signed in. You can close this page and go back to the chat.";
const OVER = "This link was used before, or it is too old. Go back to the chat and ask for another one.";
const FAILED = "Signing in did not work. Go back to the chat and try again.";

/** Where visitors come back to: a page for them, and what authorization servers read about this client. Whoever has the state of a link, which is in that link alone, finishes its sign-in. */
export function mcpSignInRoutes(dependencies: McpSignInDependencies): Route[] {
  const { finishSignIn, log } = dependencies;
  const mayAsk = doorFor(dependencies);

  async function handle({ request, note }: RouteRequest): Promise<HttpAnswer> {
    mayAsk(request);
    const query = new URLSearchParams(request.query);
    const [state, code] = [query.get("state") ?? "", query.get("code")];
    if (state.length > LONGEST || (code ?? "").length > LONGEST) return page(400, OVER);
    try {
      const finished = await finishSignIn({ state, code, iss: query.get("iss") });
      if (finished) note({ userId: finished.userId, mcpServer: finished.server });
      if (code === null) return page(200, REFUSED);
      return finished ? page(200, DONE) : page(410, OVER);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      log.warn({ err: error }, "a visitor's sign-in to an MCP server failed");
      return page(502, FAILED);
    }
  }

  const { publicUrl } = dependencies.config;
  if (publicUrl === null) return [];
  const about = mcpClientMetadata(`${publicUrl}${MCP_CALLBACK}`, { hasSecret: false });
  const document = jsonAnswer(200, { client_id: `${publicUrl}${MCP_CLIENT}`, ...about });
  const open = { method: "GET", api: "open", documentation: "hidden" } as const;
  return [
    { ...open, path: MCP_CALLBACK, handle },
    { ...open, path: MCP_CLIENT, handle: () => Promise.resolve(document) },
  ];
}

function doorFor({ config, clock, log }: McpSignInDependencies) {
  const asked = openWindow(MOST_OF_ADDRESS, MINUTE_MS);
  const addressOf = addressReader(config, log);
  return (request: RouteRequest["request"]): void => {
    const address = countedAs(addressOf(request));
    const waitSeconds = asked.full(address, clock.now());
    if (waitSeconds !== null) throw new Refusal("rate-limited", "", waitSeconds);
    asked.count(address, clock.now());
  };
}

/** The code stands in its address: nothing of it goes on, and nothing is loaded. */
function page(status: number, text: string): HttpAnswer {
  return {
    status,
    headers: {
      ...UNSTORED,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    },
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign in</title><p>${text}</p></html>`,
  };
}
