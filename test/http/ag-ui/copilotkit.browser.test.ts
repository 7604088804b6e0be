import type { Page } from "playwright-core";
import { SOON, test } from "../../widget/browser.ts";
import { openExampleShop } from "../example-shop.ts";
import { installFrontEnd } from "../front-ends/install.ts";
import { takeOver } from "../taken-over.ts";

/** Half a gigabyte of packages: AI_SDK_TESTS=full. */
test.runIf(process.env["AI_SDK_TESTS"] === "full")(
  "the README's page with CopilotKit's chat talks, uses a tool, shows a person, is reloaded, stopped, refused and cut off",
  async ({ expect, visit }) => {
    const packages = installFrontEnd("copilotkit");
    const { far, network, site, browser, service } = await openExampleShop("ag-ui/README.md", "jsx", {
      packages,
    });

    const { page, troubles } = await visit(browser, site);
    const replies = (at: Page = page) =>
      at
        .getByTestId("copilot-assistant-message")
        .evaluateAll((all) => all.map(({ textContent }) => textContent.trim()).filter((text) => text !== ""));
    const shows = async (text: string[], at: Page = page) => {
      await expect.poll(() => replies(at), SOON).toEqual(text);
    };
    const isReady = async () => {
      await page.locator('[data-testid="copilot-chat"][data-copilot-running="false"]').waitFor();
    };
    const sendTo = async (text: string) => {
      await isReady();
      await page.getByTestId("copilot-chat-textarea").fill(text);
      await page.getByTestId("copilot-chat-textarea").press("Enter");
    };

    await sendTo("Hello");
    await shows(["You said: Hello"]);
    await sendTo("I want a mug");
    const cart = "The tool says: mug is in the cart, with 0 others";
    await shows(["You said: Hello", cart]);
    await page.getByText("add to cart (done)").waitFor();

    // A person writes: it is there when the page is loaded anew, as are the steps.
    const threadId = await page.evaluate<string>(`JSON.parse(localStorage.getItem("chat")).threadId`);
    const person = await takeOver(service, threadId);
    await sendTo("A person, please");
    await isReady();
    await person.write("I am here.");
    await page.reload();
    await shows(["You said: Hello", cart, "I am here."]);
    await page.getByText("add to cart (done)").waitFor();
    await person.giveBack();

    // Another tab, and this one loaded anew, in the middle of a reply.
    const known = ["You said: Hello", cart, "I am here."];
    const held = far.held();
    await sendTo("wait");
    await held;
    await shows([...known, "One two"]);
    const tab = await page.context().newPage();
    await tab.goto(site);
    await page.reload();
    await shows([...known, "One two"]);
    await shows([...known, "One two"], tab);
    far.release();
    const three = [...known, "One two three."];
    await shows(three);
    await shows(three, tab);
    await tab.close();

    // Stopped: what was said stays, and the next message is answered.
    await sendTo("wait for the stop");
    await shows([...three, "One two"]);
    await page
      .locator('[data-testid="copilot-send-button"], [data-testid="copilot-chat-input"] button')
      .last()
      .click();
    await isReady();
    far.release();
    await sendTo("Again");
    const four = [...three, "One two", "You said: Again"];
    await shows(four);

    // Refused in each way: the chat is ready again, and what is said next is answered.
    for (const status of [429, 401, 403]) {
      await page.route("**/agent/default/run", (route) =>
        route.fulfill({ status, headers: { "access-control-allow-origin": site } }),
      );
      const refused = page.waitForResponse((response) => response.status() === status);
      await sendTo(`Refused with ${status}`);
      await refused;
      await isReady();
      await page.unroute("**/agent/default/run");
    }
    await sendTo("Still there?");
    const five = [...four, "You said: Still there?"];
    await shows(five);

    // Cut off: loaded anew, the page has the whole reply once.
    await sendTo("wait, I am in a tunnel");
    await shows([...five, "One two"]);
    network.cut("reset");
    await isReady();
    far.release();
    await page.reload();
    await shows([...five, "One two three."]);
    const others = troubles.filter((trouble) => !/Agent execution failed|network error|HTTP 4/.test(trouble));
    expect(others).toEqual([]);
  },
  // The first time, with what npm takes to install them.
  600_000,
);
