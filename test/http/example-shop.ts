import { onTestFinished } from "vitest";
import type { Browser } from "playwright-core";
import { openOpenAi } from "../../src/models/openai.ts";
import { startTcpProxy } from "../faults/victims/tcp-proxy.ts";
import type { TcpProxy } from "../faults/victims/tcp-proxy.ts";
import { webChannel } from "../scenarios/houses.ts";
import { call, hold, lastUserText, say, startModelServer } from "../support/servers/model-server.ts";
import type { ModelServer, ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { ROOMY_LIMITS, startTestService } from "../support/servers/service.ts";
import type { TestService } from "../support/servers/service.ts";
import { launchBrowser } from "../widget/browser.ts";
import { exampleScript, startSite } from "./example-page.ts";

/** What stands between a README's page and its model. All of it ends with the test. */
export interface ExampleShop {
  far: ModelServer;
  service: TestService;
  network: TcpProxy;
  site: string;
  browser: Browser;
}

/** A mug is put into the cart by the page's tool; what waits is held after two words. */
function model(request: ModelServerRequest): ScriptedTurn {
  const said = lastUserText(request);
  const last = request.body.messages.at(-1);
  if (last?.role === "tool") return `The tool says: ${typeof last.content === "string" ? last.content : ""}`;
  if (said.includes("mug")) return [call("add_to_cart", { product: "mug" })];
  return said.includes("wait") ? [say("One "), say("two "), hold(), say("three.")] : `You said: ${said}`;
}

/** A site with the first example in a language of a README in src/http, and a service whose people may take over. */
export async function openExampleShop(
  readme: string,
  language: "js" | "jsx" | "tsx",
  from: { packages?: string } = {},
): Promise<ExampleShop> {
  const far = await startModelServer(model);
  onTestFinished(() => far.close());
  const brain = openOpenAi({ apiKey: null, baseUrl: far.baseUrl, silenceMs: 60_000 });
  const service = await startTestService({ env: ROOMY_LIMITS, model: brain, channels: [] });
  onTestFinished(() => brain.close());
  const network = await startTcpProxy(Number(new URL(service.url).port));
  onTestFinished(() => network.close());
  const address = `http://127.0.0.1:${network.port}`;
  const script = exampleScript(readme, language, { service: address, ...from });
  const site = await startSite(() => script);
  const handoff = { enabled: true, message: "A person comes.", waitSeconds: 600 };
  await service.store.putChannel(webChannel("shop", { allowedOrigins: [site], handoff }));
  await service.directory.renew();
  const browser = await launchBrowser({ webMcp: false });
  onTestFinished(() => browser.close());
  return { far, service, network, site, browser };
}
