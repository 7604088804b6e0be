import type { Locator, Page } from "playwright-core";
import type { ExpectStatic } from "vitest";
import { SOON } from "../../widget/browser.ts";
import type { ExampleShop } from "../example-shop.ts";
import { takeOver } from "../threads/taken-over.ts";
import type { Person } from "../threads/taken-over.ts";

/** The chat of a page, however it is built. */
export interface Chat {
  /** What the agent has said, and a person of the site, as the page shows it; the tool's step where it shows one. */
  replies(at: Page): Promise<string[]>;
  /** The page takes the next message. */
  isReady(): Promise<void>;
  /** Writes the text, and sends it. */
  send(text: string): Promise<void>;
  /** Where it is pressed. */
  stop: Locator;
  /** Asks again for what failed; null: the page has no such button. */
  again: Locator | null;
  /** The address of a run, as a glob. */
  runs: string;
  /** What it shows of a reply that has come to two words of three. */
  half: string;
}

/** A field called Message, and buttons Send and Stop. `replies`: which elements; `again`: what the button is called. */
export function chatWithButtons(
  page: Page,
  { replies, again, runs }: { replies: string; again: string; runs: string },
): Chat {
  const button = (name: string) => page.getByRole("button", { name });
  return {
    replies: (at) => at.locator(replies).allTextContents(),
    isReady: () => button("Send").waitFor(),
    async send(text) {
      await page.getByLabel("Message").fill(text);
      await button("Send").click();
    },
    stop: button("Stop"),
    again: button(again),
    runs,
    half: "One two ",
  };
}

/** What each front end must bear, one part after another. */
export interface Talk {
  /** Shows these replies now or soon. */
  shows(replies: string[], at?: Page): Promise<void>;
  /** Sends a message when the page takes one. */
  sendTo(text: string): Promise<void>;
  /** A person has the thread from now on. */
  takeOver(): Promise<Person>;
  /** Each of these answers with what the page shows then; `known` is what it showed before. */
  isLoadedAnew(known: string[]): Promise<string[]>;
  isStopped(known: string[]): Promise<string[]>;
  isRefused(known: string[]): Promise<string[]>;
  isCutOff(known: string[]): Promise<string[]>;
}

/** Talks to the page of a README in src/http, which is open at this address of the shop. */
export function talkTo(
  page: Page,
  chat: Chat,
  { shop, expect }: { shop: ExampleShop; expect: ExpectStatic },
): Talk {
  const { far, network, site, service } = shop;
  const { half, again } = chat;

  async function shows(replies: string[], at: Page = page): Promise<void> {
    await expect.poll(() => chat.replies(at), SOON).toEqual(replies);
  }

  async function sendTo(text: string): Promise<void> {
    await chat.isReady();
    await chat.send(text);
  }

  async function refuse(status: number, act: () => Promise<void>): Promise<void> {
    await page.route(chat.runs, (route) =>
      route.fulfill({ status, headers: { "access-control-allow-origin": site } }),
    );
    const refused = page.waitForResponse((response) => response.status() === status);
    await act();
    await refused;
    await chat.isReady();
    await again?.waitFor();
    await page.unroute(chat.runs);
  }

  return {
    shows,
    sendTo,

    async takeOver() {
      const threadId = await page.evaluate<string>(`JSON.parse(localStorage.getItem("chat")).threadId`);
      return takeOver(service, threadId);
    },

    /** Another tab, and this one loaded anew, in the middle of a reply. */
    async isLoadedAnew(known) {
      const held = far.held();
      await sendTo("wait");
      await held;
      await shows([...known, half]);
      const tab = await page.context().newPage();
      await tab.goto(site);
      await page.reload();
      await shows([...known, half]);
      await shows([...known, half], tab);
      far.release();
      const shown = [...known, "One two three."];
      await shows(shown);
      await shows(shown, tab);
      await tab.close();
      return shown;
    },

    /** What was said stays, and the next message is answered. */
    async isStopped(known) {
      await sendTo("wait for the stop");
      await shows([...known, half]);
      await chat.stop.click();
      await chat.isReady();
      far.release();
      await sendTo("Again");
      const shown = [...known, half, "You said: Again"];
      await shows(shown);
      return shown;
    },

    /** In each way, and said when it may be: again, or anew where the page cannot ask again. */
    async isRefused(known) {
      await refuse(429, () => sendTo("Still there?"));
      for (const status of [401, 403]) await refuse(status, () => again?.click() ?? sendTo("Still there?"));
      await (again?.click() ?? sendTo("Still there?"));
      const shown = [...known, "You said: Still there?"];
      await shows(shown);
      return shown;
    },

    /** The whole reply is there once: when it is asked for again, or when the page is loaded anew. */
    async isCutOff(known) {
      await sendTo("wait, I am in a tunnel");
      await shows([...known, half]);
      network.cut("reset");
      if (again) {
        await again.click();
        await shows([...known, half]);
        far.release();
      } else {
        await chat.isReady();
        far.release();
        await page.reload();
      }
      const shown = [...known, "One two three."];
      await shows(shown);
      return shown;
    },
  };
}
