import { onTestFinished } from "vitest";
import { startModelServer } from "../support/servers/model-server.ts";
import type { Script } from "../support/servers/model-server.ts";
import { openServiceProcess } from "../support/servers/service-process.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { startPageServer } from "../widget/page/page-server.ts";
import { keysOf } from "./operating.ts";

/** A shop's page with the element, whose people may be asked for, and a console; a service of its own. */
export async function openStaffedShop({
  handoff = {},
  script,
  ...channel
}: { handoff?: object; script?: Script; webhooks?: object[]; agent?: object } = {}) {
  const dataDir = emptyFolder();
  const model = await startModelServer(script);
  const env = {
    DATA_DIR: dataDir,
    OPENAI_BASE_URL: model.baseUrl,
    WEBHOOKS_PRIVATE: "on",
    MCP_PRIVATE: "on",
  };
  const service = await openServiceProcess(env);
  const site = await startPageServer(service.url);
  onTestFinished(async () => {
    await Promise.all([site.close(), service.close()]);
    await model.close();
  });
  const { localOperator, harnessApiKey } = keysOf(dataDir);

  /** As the operator `local`, who may do everything. */
  async function ask(path: string, method = "GET", body?: object): Promise<Response> {
    const answer = await fetch(`${service.url}/v1/operator${path}`, {
      method,
      headers: { authorization: `Bearer ${localOperator}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }

  const made = await ask("/channels", "POST", {
    slug: "shop",
    kind: "web",
    allowedOrigins: [site.url],
    handoff: { enabled: true, ...handoff },
    ...channel,
  });
  const { publishableKey } = (await made.json()) as { publishableKey: string };
  const consoleOf = (key: string) => `${service.url}/console#key=${key}`;
  return {
    ask,
    model,
    /** For a transport of another channel. */
    server: { baseUrl: service.url, key: harnessApiKey },
    page: `${site.url}/?key=${publishableKey}`,
    /** The console of `local`. */
    console: consoleOf(localOperator),
    /** Another operator's. */
    async hire(operator: { name: string; displayName?: string; queues?: string[] }): Promise<string> {
      const hired = await ask("/operators", "POST", { role: "agent", ...operator });
      return consoleOf(((await hired.json()) as { key: string }).key);
    },
  };
}
