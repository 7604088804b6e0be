// For src/http/ag-ui/
import { test } from "../../widget/browser.ts";
import { openExampleShop } from "../example-shop.ts";
import { installFrontEnd } from "../front-ends/install.ts";
import { talkTo } from "../front-ends/talk-to-page.ts";

/** Half a gigabyte of packages: AI_SDK_TESTS=full. */
test.runIf(process.env["AI_SDK_TESTS"] === "full")(
  "the README's page with CopilotKit's chat talks, uses a tool, shows a person, is reloaded, stopped, refused and cut off",
  async ({ expect, visit }) => {
    const packages = installFrontEnd("copilotkit");
    const shop = await openExampleShop("ag-ui/README.md", "jsx", { packages });
    const { page, troubles } = await visit(shop.browser, shop.site);
    const isReady = () =>
      page.locator('[data-testid="copilot-chat"][data-copilot-running="false"]').waitFor();
    const talk = talkTo(
      page,
      {
        replies: (at) =>
          at
            .getByTestId("copilot-assistant-message")
            .evaluateAll((all) =>
              all.map(({ textContent }) => textContent.trim()).filter((text) => text !== ""),
            ),
        isReady,
        async send(text) {
          await page.getByTestId("copilot-chat-textarea").fill(text);
          await page.getByTestId("copilot-chat-textarea").press("Enter");
        },
        stop: page
          .locator('[data-testid="copilot-send-button"], [data-testid="copilot-chat-input"] button')
          .last(),
        again: null,
        runs: "**/agent/default/run",
        half: "One two",
      },
      { shop, expect },
    );

    await talk.sendTo("Hello");
    await talk.shows(["You said: Hello"]);
    await talk.sendTo("I want a mug");
    const cart = "The tool says: mug is in the cart, with 0 others";
    await talk.shows(["You said: Hello", cart]);
    await page.getByText("add to cart (done)").waitFor();

    // A person writes: it is there when the page is loaded anew, as are the steps.
    const person = await talk.takeOver();
    await talk.sendTo("A person, please");
    await isReady();
    await person.write("I am here.");
    await page.reload();
    const known = ["You said: Hello", cart, "I am here."];
    await talk.shows(known);
    await page.getByText("add to cart (done)").waitFor();
    await person.giveBack();

    await talk.isCutOff(await talk.isRefused(await talk.isStopped(await talk.isLoadedAnew(known))));
    const others = troubles.filter((trouble) => !/Agent execution failed|network error|HTTP 4/.test(trouble));
    expect(others).toEqual([]);
  },
  // The first time, with what npm takes to install them.
  600_000,
);
