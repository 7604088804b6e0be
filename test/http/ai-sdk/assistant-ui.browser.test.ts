// For src/http/ai-sdk/
import { test } from "../../widget/browser.ts";
import { openExampleShop } from "../example-shop.ts";
import { installFrontEnd } from "../front-ends/install.ts";
import { chatWithButtons, talkTo } from "../front-ends/talk-to-page.ts";

/** Packages of its own: AI_SDK_TESTS=full. */
test.runIf(process.env["AI_SDK_TESTS"] === "full")(
  "the README's page with assistant-ui talks, uses a tool, shows a person, is reloaded, stopped, refused and cut off",
  async ({ expect, visit }) => {
    const packages = installFrontEnd("assistant-ui");
    const shop = await openExampleShop("ai-sdk/README.md", "tsx", { packages });
    const { page, troubles } = await visit(shop.browser, shop.site);
    const chat = chatWithButtons(page, {
      replies: "article.assistant",
      again: "try again",
      runs: "**/ai-sdk/chat",
    });
    const talk = talkTo(page, chat, { shop, expect });

    await talk.sendTo("Hello");
    await talk.shows(["You said: Hello"]);
    await talk.sendTo("I want a mug");
    const cart = "add to cart (done)The tool says: mug is in the cart, with 0 others";
    await talk.shows(["You said: Hello", cart]);

    // A person writes: it is there when the page is loaded anew.
    const person = await talk.takeOver();
    await talk.sendTo("A person, please");
    await chat.isReady();
    await person.write("I am here.");
    await page.reload();
    const known = ["You said: Hello", cart, "I am here."];
    await talk.shows(known);
    await person.giveBack();

    await talk.isCutOff(await talk.isRefused(await talk.isStopped(await talk.isLoadedAnew(known))));
    expect(troubles).toEqual([]);
  },
  // The first time, with what npm takes to install them.
  600_000,
);
