import type { Page } from "playwright-core";
import { SOON, test } from "../../widget/browser.ts";
import { openExampleShop } from "../example-shop.ts";
import { installFrontEnd } from "../front-ends/install.ts";
import { takeOver } from "../taken-over.ts";

/** Packages of its own: AI_SDK_TESTS=full. */
test.runIf(process.env["AI_SDK_TESTS"] === "full")(
  "the README's page with assistant-ui talks, uses a tool, shows a person, is reloaded, stopped, refused and cut off",
  async ({ expect, visit }) => {
    const packages = installFrontEnd("assistant-ui");
    const { far, network, site, browser, service } = await openExampleShop("ai-sdk/README.md", "tsx", {
      packages,
    });

    const { page, troubles } = await visit(browser, site);
    const replies = (at: Page = page) => at.locator("article.assistant").allTextContents();
    const shows = async (text: string[], at: Page = page) => {
      await expect.poll(() => replies(at), SOON).toEqual(text);
    };
    const isReady = () => page.getByRole("button", { name: "Send" }).waitFor();
    const sendTo = async (text: string) => {
      await isReady();
      await page.getByLabel("Message").fill(text);
      await page.getByRole("button", { name: "Send" }).click();
    };

    await sendTo("Hello");
    await shows(["You said: Hello"]);
    await sendTo("I want a mug");
    const cart = "add to cart (done)The tool says: mug is in the cart, with 0 others";
    await shows(["You said: Hello", cart]);

    // A person writes: it is there when the page is loaded anew.
    const threadId = await page.evaluate<string>(`JSON.parse(localStorage.getItem("chat")).threadId`);
    const person = await takeOver(service, threadId);
    await sendTo("A person, please");
    await isReady();
    await person.write("I am here.");
    await page.reload();
    await shows(["You said: Hello", cart, "I am here."]);
    await person.giveBack();

    // Another tab, and this one loaded anew, in the middle of a reply.
    const known = ["You said: Hello", cart, "I am here."];
    const held = far.held();
    await sendTo("wait");
    await held;
    await shows([...known, "One two "]);
    const tab = await page.context().newPage();
    await tab.goto(site);
    await page.reload();
    await shows([...known, "One two "]);
    await shows([...known, "One two "], tab);
    far.release();
    const three = [...known, "One two three."];
    await shows(three);
    await shows(three, tab);
    await tab.close();

    // Stopped: what was said stays, and the next message is answered.
    await sendTo("wait for the stop");
    await shows([...three, "One two "]);
    await page.getByRole("button", { name: "Stop" }).click();
    await isReady();
    far.release();
    await sendTo("Again");
    const four = [...three, "One two ", "You said: Again"];
    await shows(four);

    // Refused in each way, and said when it may be.
    const again = page.getByRole("button", { name: "try again" });
    for (const status of [429, 401, 403]) {
      await page.route("**/ai-sdk/chat", (route) =>
        route.fulfill({ status, headers: { "access-control-allow-origin": site } }),
      );
      const refused = page.waitForResponse((response) => response.status() === status);
      await (status === 429 ? sendTo("Still there?") : again.click());
      await refused;
      await isReady();
      await again.waitFor();
      await page.unroute("**/ai-sdk/chat");
    }
    await again.click();
    const five = [...four, "You said: Still there?"];
    await shows(five);

    // Cut off: an error, and the whole reply once when it is asked for again.
    await sendTo("wait, I am in a tunnel");
    await shows([...five, "One two "]);
    network.cut("reset");
    await again.click();
    await shows([...five, "One two "]);
    far.release();
    await shows([...five, "One two three."]);
    expect(troubles).toEqual([]);
  },
  // The first time, with what npm takes to install them.
  600_000,
);
