import type { ServerResponse } from "node:http";
import { z } from "zod";
import { openHttpServer } from "../support/servers/http-server.ts";

const ASKED = z.object({
  offset: z.number().optional(),
  message_id: z.number().optional(),
  text: z.string().optional(),
});

/** A bot API of Telegram's kind with one chat, until the test is over. */
export interface BotApi {
  url: string;
  /** Messages of the bot, as they stand in the chat. */
  chat: string[];
  /** Updates that the bot has confirmed: those below. */
  confirmed: () => number;
  /** The user writes: the next update, which is given to the bot until it asks for later ones. */
  write(text: string): void;
  /** The next `sendMessage` gets no answer, and puts nothing into the chat; resolves when it has come. */
  loseNextMessage(): Promise<void>;
}

export async function startBotApi(): Promise<BotApi> {
  const updates: object[] = [];
  const chat: string[] = [];
  let confirmed = 0;
  let waiting: ServerResponse[] = [];
  let lose: (() => void) | null = null;

  const answer = (response: ServerResponse, result: unknown) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ok: true, result }));

  function refuse(response: ServerResponse, description: string) {
    const no = { ok: false, error_code: 400, description };
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(no));
  }

  function giveUpdates() {
    if (updates.length <= confirmed) return;
    for (const response of waiting) answer(response, updates.slice(confirmed));
    waiting = [];
  }

  function perform(method: string, asked: z.infer<typeof ASKED>, response: ServerResponse) {
    const { offset = 0, message_id: messageId = 0, text = "" } = asked;
    if (method === "getUpdates") {
      confirmed = Math.max(confirmed, offset);
      waiting.push(response);
      giveUpdates();
    } else if (method === "sendMessage" && lose) {
      lose();
      lose = null;
    } else if (method === "sendMessage") {
      answer(response, { message_id: chat.push(text) - 1 });
    } else if (chat[messageId] === undefined || chat[messageId] === text) {
      refuse(response, "Bad Request: message is not modified");
    } else {
      chat[messageId] = text;
      answer(response, true);
    }
  }

  const origin = await openHttpServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      perform((request.url ?? "").slice(1), ASKED.parse(JSON.parse(body)), response);
    })();
  });
  return {
    url: origin,
    chat,
    confirmed: () => confirmed,
    write(text) {
      const from = { id: 7, first_name: "Ada" };
      updates.push({ update_id: updates.length, message: { chat: { id: 12 }, from, text } });
      giveUpdates();
    },
    loseNextMessage: () => new Promise((resolve) => (lose = resolve)),
  };
}
