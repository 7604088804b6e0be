// For src/widget/view/fit-viewport.ts, src/widget/
import { request as httpRequest } from "node:http";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { SOON, test } from "../browser.ts";
import { gate, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

test("W3: the field and the last line are above a phone's keyboard", async ({ expect, visit }) => {
  stage.service.scripts.set("long enough", [reply("A line of the reply.\n\n".repeat(30))]);
  const at = await visit(stage.browser, `${stage.site.url}/`, {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 780 },
  });
  // The keyboard of iOS: the page keeps its size, the visual viewport does not.
  await at.page.addInitScript(`{
    const viewport = new EventTarget();
    Object.assign(viewport, { height: 780, offsetTop: 0, scale: 1 });
    Object.defineProperty(window, "visualViewport", { value: viewport });
    window.keyboard = (height, offsetTop = 0, scale = 1) => {
      Object.assign(viewport, { height, offsetTop, scale });
      viewport.dispatchEvent(new Event("resize"));
    };
  }`);
  await at.page.reload();
  await at.say("long enough");
  await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
  const bottoms = () =>
    at.tell<number[]>(
      `["textarea", ".log .text > :last-child"].map((one) => agent.shadowRoot.querySelector(one).getBoundingClientRect().bottom)`,
    );
  const top = () => at.tell<number>(`agent.shadowRoot.querySelector(".panel").getBoundingClientRect().top`);
  await at.composer.focus();
  const before = await bottoms();
  expect(Math.max(...before)).toBeGreaterThan(400);
  await at.tell("(keyboard(400), 0)");
  expect(Math.max(...(await bottoms()))).toBeLessThan(400);
  expect(await top()).toBeGreaterThanOrEqual(0);
  // The browser has moved the page up to show the field.
  await at.tell("(keyboard(400, 200), 0)");
  expect(Math.max(...(await bottoms()))).toBeLessThan(600);
  expect(await top()).toBeGreaterThanOrEqual(200);
  // Fingers that enlarge the page move nothing.
  await at.tell("(keyboard(390, 100, 2), 0)");
  expect(await bottoms()).toEqual(before);
  await at.tell("(keyboard(780), 0)");
  expect(await bottoms()).toEqual(before);
});

test("W5: a page under translation, which wraps every text in <font>, in the element too", async ({
  expect,
  visit,
}) => {
  const rest = gate();
  const words = reply("One **two** three.\n\n- four\n- five\n\nSix `seven` eight, nine and ten.");
  stage.service.scripts.set("translate me", [
    [
      { type: "step", id: "look", phase: "running", text: "Looking" },
      ...words.slice(0, 3),
      rest,
      { type: "step", id: "look", phase: "done", text: "Looked" },
      ...words.slice(3),
    ],
  ]);
  const at = await visit(stage.browser, `${stage.site.url}/`);
  await at.tell(
    "agent.append(Object.assign(document.createElement('p'), { slot: 'footer', textContent: 'By Shop' }))",
  );
  await at.page.evaluate(`{
    window.wrapped = 0;
    const wrap = (root) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      const texts = [];
      while (walker.nextNode()) texts.push(walker.currentNode);
      for (const text of texts) {
        if (text.data.trim() === "" || text.parentElement?.closest("font")) continue;
        const font = document.createElement("font");
        text.replaceWith(font);
        font.append(document.createTextNode(text.data));
        window.wrapped += 1;
      }
    };
    const agent = document.querySelector("chat-agent");
    const all = () => (wrap(agent), wrap(agent.shadowRoot));
    new MutationObserver(all).observe(agent.shadowRoot, { childList: true, subtree: true, characterData: true });
    setInterval(all, 200);
  }`);
  await at.say("translate me");
  await at.log.getByText("One").waitFor();
  rest.open();
  await at.log.getByText("ten.").waitFor();
  await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
  expect(await at.log.locator(".assistant .text").textContent()).toBe(
    "One two three.fourfiveSix seven eight, nine and ten.",
  );
  expect(await at.log.locator(".step").allTextContents()).toEqual([expect.stringContaining("Looked")]);
  // The next message, another conversation, and back: what was wrapped is drawn again.
  await at.say("and again");
  await at.log.getByText("You said: and again").waitFor();
  await at.tell("agent.newThread()");
  await at.agent.locator("[part=welcome]").waitFor();
  await at.say("once more");
  await at.log.getByText("You said: once more").waitFor();
  expect(await at.log.locator(".message").count()).toBe(2);
  expect(await at.tell("window.wrapped > 10")).toBe(true);
  expect(at.troubles).toEqual([]);
});

test("W6: the strictest policy, with a nonce, strict-dynamic and trusted types: works, and nothing is reported", async ({
  expect,
  visit,
}) => {
  stage.service.scripts.set("strictly", [
    reply("**Bold**, [a link](https://example.com/), `code`\n\n| a |\n|---|\n| b |"),
  ]);
  // The browser writes each report into its console.
  const at = await visit(stage.browser, `${stage.site.url}/?nonce=strict&key=pk_images`);
  await at.say("strictly");
  await at.log.locator("td", { hasText: "b" }).waitFor();
  await at.agent.locator("[part=list]").click();
  await at.agent.locator("[part=threads] li").first().waitFor();
  expect(at.troubles).toEqual([]);
  // It is that policy: what is no script of the nonce's is refused, and told.
  await at.page.evaluate(
    "document.body.append(Object.assign(document.createElement('style'), { textContent: 'p {}' }))",
  );
  await expect.poll(() => at.troubles.length, SOON).toBe(1);
});

test("W9: script and API under the site's own path, through its proxy", async ({ expect, visit }) => {
  const service = new URL(stage.service.url);
  // What the README's nginx and Caddy do: the site's own path, without its first part, to the service.
  const url = await openHttpServer((request, response) => {
    const path = request.url ?? "/";
    if (!path.startsWith("/help/")) {
      response.writeHead(200, { "content-type": "text/html" });
      return response.end(
        `<!doctype html><title>Own path</title><script src="/help/widget/v1/chat-agent.js" defer></script><chat-agent publishable-key="pk_test" base-url="/help"></chat-agent>`,
      );
    }
    const { method, headers } = request;
    const options = {
      host: service.hostname,
      port: service.port,
      path: path.slice("/help".length),
      method,
      headers,
    };
    const passed = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    return request.pipe(passed);
  });
  stage.service.scripts.set("from here", [reply("Served from **here**.")]);
  const at = await visit(stage.browser, `${stage.site.url}/file`);
  const asked: string[] = [];
  at.page.on("request", (request) => asked.push(request.url()));
  await at.page.goto(`${url}/`);
  await at.say("from here");
  await at.log.locator("strong", { hasText: "here" }).waitFor();
  expect(asked.filter((one) => !one.startsWith(`${url}/`))).toEqual([]);
  expect(asked.filter((one) => one.includes("/help/v1/widget/")).length).toBeGreaterThan(2);
});
