// For src/http/ai-sdk/
import { describe, expect, onTestFinished, test } from "vitest";
import { openOpenAi } from "../../../src/models/openai.ts";
import { ORIGIN, webChannel } from "../../scenarios/houses.ts";
import { ask, objectOf } from "../../scenarios/page.ts";
import { lastUserText, startModelServer } from "../../support/servers/model-server.ts";
import { ROOMY_LIMITS, startTestService } from "../../support/servers/service.ts";
import { takeOver } from "../threads/taken-over.ts";
import { CLIENTS, textOf } from "./clients.ts";
import type { ShownMessage } from "./clients.ts";

/** The newest version alone, unless AI_SDK_TESTS=full. */
const PLAYED = process.env["AI_SDK_TESTS"] === "full" ? CLIENTS : CLIENTS.slice(-1);

describe.each(PLAYED)("$name", (client) => {
  test("where a person has taken over, a message ends at once, and what the person writes is in the messages", async () => {
    const far = await startModelServer((request) => `You said: ${lastUserText(request)}`);
    onTestFinished(() => far.close());
    const model = openOpenAi({ apiKey: null, baseUrl: far.baseUrl, silenceMs: 60_000 });
    const handoff = { enabled: true, message: "A person comes.", waitSeconds: 600 };
    const service = await startTestService({
      env: ROOMY_LIMITS,
      model,
      channels: [webChannel("shop", { handoff })],
    });
    onTestFinished(() => model.close());
    const { url } = service;
    const post = (path: string, headers: Record<string, string>) =>
      ask(url, `/v1/widget/${path}`, { headers: { origin: ORIGIN, ...headers } });
    const made = await post("visitors", { "x-publishable-key": "pk_shop" });
    const { visitorToken: token } = objectOf<{ visitorToken: string }>(made);
    const mine = { "x-visitor-token": token };
    const { threadId } = objectOf<{ threadId: string }>(await post("threads", mine));
    const read = async () => {
      const headers = { origin: ORIGIN, ...mine };
      const got = await ask(url, `/v1/widget/ai-sdk/chat/${threadId}/messages`, { method: "GET", headers });
      return JSON.parse(got.text) as ShownMessage[];
    };

    const first = client.open({ url, token, threadId });
    await first.send("Hello");
    const person = await takeOver(service, threadId);
    await first.send("A person, please");
    expect([first.status, first.messages.at(-1)]).toMatchObject([
      "ready",
      { metadata: { handledBy: "person" } },
    ]);
    await person.write("I am here.");

    // The page is loaded anew: the person's message has its author, and no reply is in progress.
    const messages = await read();
    expect(messages.map(textOf)).toEqual(["Hello", "You said: Hello", "A person, please", "I am here."]);
    expect(messages.at(-1)).toMatchObject({ role: "assistant", metadata: { author: { name: "agent" } } });
    const second = client.open({ url, token, threadId, messages });
    await second.resume();
    expect([second.status, second.messages]).toEqual(["ready", messages]);
    await person.giveBack();
    await second.send("Thanks");
    expect(textOf(second.messages.at(-1))).toBe("You said: Thanks");
  });
});
