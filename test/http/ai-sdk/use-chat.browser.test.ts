import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { openOpenAi } from "../../../src/models/openai.ts";
import { startTcpProxy } from "../../faults/tcp-proxy.ts";
import { webChannel } from "../../scenarios/houses.ts";
import { call, hold, lastUserText, say, startModelServer } from "../../support/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../../support/model-server.ts";
import { ROOMY_LIMITS, startTestService } from "../../support/service.ts";
import { launchBrowser, SOON, test } from "../../widget/browser.ts";

const readme = fileURLToPath(new URL("../../../src/http/ai-sdk/README.md", import.meta.url));

/** The example of the README, which begins with the service's address and the channel's key. */
async function examplePage(service: string): Promise<string> {
  const example = /^```jsx\n(.*?)^```/ms.exec(readFileSync(readme, "utf8"))?.[1] ?? "";
  const { outputFiles } = await build({
    stdin: {
      contents: example.replace(/"https:\/\/chat.example.com"/, JSON.stringify(service)),
      resolveDir: fileURLToPath(new URL("../../..", import.meta.url)),
      loader: "jsx",
    },
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0]?.text ?? "";
}

async function startSite(script: () => Promise<string>): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const isScript = request.url === "/page.js";
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html; charset=utf-8" });
      response.end(
        isScript
          ? await script()
          : `<!doctype html><title>A shop</title><div id="root"></div><script type="module" src="/page.js"></script>`,
      );
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function model(request: ModelServerRequest): ScriptedTurn {
  const said = lastUserText(request);
  const last = request.body.messages.at(-1);
  if (last?.role === "tool") return `The tool says: ${typeof last.content === "string" ? last.content : ""}`;
  if (said.includes("mug")) return [call("add_to_cart", { product: "mug" })];
  return said.includes("wait") ? [say("One "), say("two "), hold(), say("three.")] : `You said: ${said}`;
}

test("the README's page with useChat talks, uses a tool, is reloaded, stopped, refused and cut off", async ({
  expect,
  visit,
}) => {
  const far = await startModelServer(model);
  onTestFinished(() => far.close());
  const brain = openOpenAi({ apiKey: null, baseUrl: far.baseUrl, silenceMs: 60_000 });
  const service = await startTestService({ env: ROOMY_LIMITS, model: brain, channels: [] });
  onTestFinished(() => brain.close());
  const network = await startTcpProxy(Number(new URL(service.url).port));
  onTestFinished(() => network.close());
  const site = await startSite(() => examplePage(`http://127.0.0.1:${network.port}`));
  await service.store.putChannel(webChannel("shop", { allowedOrigins: [site] }));
  await service.directory.renew();
  const browser = await launchBrowser({ webMcp: false });
  onTestFinished(() => browser.close());

  const { page, troubles } = await visit(browser, site);
  const replies = (at: Page = page) => at.locator("article.assistant").allTextContents();
  const sendTo = async (text: string) => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const shows = async (text: string[], at: Page = page) => {
    await expect.poll(() => replies(at), SOON).toEqual(text);
  };
  const isReady = () => page.getByRole("button", { name: "Send" }).waitFor();

  await sendTo("Hello");
  await shows(["You said: Hello"]);
  await isReady();
  await sendTo("I want a mug");
  const cart = "add to cart (done)The tool says: mug is in the cart, with 0 others";
  await shows(["You said: Hello", cart]);
  await isReady();

  // Another tab, and this one loaded anew, in the middle of a reply.
  const held = far.held();
  await sendTo("wait");
  await held;
  await shows(["You said: Hello", cart, "One two "]);
  const tab = await page.context().newPage();
  await tab.goto(site);
  await page.reload();
  await shows(["You said: Hello", cart, "One two "]);
  await shows(["You said: Hello", cart, "One two "], tab);
  far.release();
  const three = ["You said: Hello", cart, "One two three."];
  await shows(three);
  await shows(three, tab);
  await tab.close();
  await isReady();

  // Stopped: what was said stays, and the next message is answered.
  await sendTo("wait for the stop");
  await shows([...three, "One two "]);
  await page.getByRole("button", { name: "Stop" }).click();
  await isReady();
  far.release();
  await sendTo("Again");
  await shows([...three, "One two ", "You said: Again"]);
  await isReady();

  // Refused in each way, and said when it may be.
  for (const status of [429, 401, 403]) {
    await page.route("**/ai-sdk/chat", (route) =>
      route.fulfill({ status, headers: { "access-control-allow-origin": site } }),
    );
    await (status === 429 ? sendTo("Still there?") : page.getByRole("button", { name: "again" }).click());
    await page.getByRole("button", { name: "again" }).waitFor();
    await page.unroute("**/ai-sdk/chat");
  }
  await page.getByRole("button", { name: "again" }).click();
  const five = [...three, "One two ", "You said: Again", "You said: Still there?"];
  await shows(five);
  await isReady();

  // Cut off: an error, and the whole reply once when it is asked for again.
  await sendTo("wait, I am in a tunnel");
  await shows([...five, "One two "]);
  network.cut("reset");
  await page.getByRole("button", { name: "again" }).click();
  await shows([...five, "One two "]);
  far.release();
  await shows([...five, "One two three."]);
  expect(troubles).toEqual([]);
});
