// For src/cli/chat/
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { openHttpServer } from "../support/servers/http-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { openTestTerminal } from "../support/terminal.ts";

/** `chat` at a terminal, with the keys that a person presses, before a service whose replies a test ends. */
const UP = "\u001b[A";
const LEFT = "\u001b[D";
const BACKSPACE = "\u007f";
const CTRL_C = "\u0003";

async function openChat(columns = 60) {
  const said: string[] = [];
  const cancelled: string[] = [];
  const replies: ServerResponse[] = [];
  const url = await openHttpServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      // Its thread has no feed.
      if (request.method === "GET") return void response.writeHead(404).end();
      const { text = "" } = JSON.parse(body) as { text?: string };
      if (request.url !== "/v1/messages") {
        cancelled.push(request.url ?? "");
        response.writeHead(204).end();
        return;
      }
      said.push(text);
      replies.push(response);
    });
  });

  const terminal = {
    ...openTestTerminal({ HARNESS_API_KEY: TEST_KEY }),
    interactive: true,
    columns: () => columns,
  };
  Object.assign(terminal.input, { isTTY: true });
  const ended = runProgram(["chat", "--url", url], terminal);
  return {
    ended,
    said,
    cancelled,
    press: (...keys: string[]) => keys.forEach((key) => terminal.input.write(key)),
    out: () => terminal.written.out,
    err: () => terminal.written.err,
    /** Resolves when so many messages have come. */
    async saidSoFar(count: number) {
      await expect.poll(() => said.length).toBe(count);
    },
    tell: (...lines: object[]) => lines.forEach((line) => replies.at(-1)?.write(`${JSON.stringify(line)}\n`)),
    finish: () => replies.at(-1)?.end('{"type":"done","elapsedMs":1}\n'),
  };
}

test("a line can be edited, and earlier ones come back", async () => {
  const chat = await openChat();
  await expect.poll(chat.out).toContain("> ");
  chat.press("Hallo", BACKSPACE, BACKSPACE, BACKSPACE, BACKSPACE, "ello", "\r");
  await chat.saidSoFar(1);
  chat.finish();
  chat.press(UP, LEFT, "!", "\r");
  await chat.saidSoFar(2);
  expect(chat.said).toEqual(["Hello", "Hell!o"]);
  chat.press(CTRL_C);
  expect(await chat.ended).toBe(0);
});

test("what is typed during a reply shows after it, and the prompt waits", async () => {
  const chat = await openChat();
  chat.press("One\r");
  await chat.saidSoFar(1);
  const before = chat.out().length;
  chat.press("Two\rThr");
  chat.tell({ type: "delta", text: "Reply one." });
  await expect.poll(chat.out).toContain("Reply");
  expect(chat.out().slice(before)).toBe("Reply");
  chat.finish();
  await chat.saidSoFar(2);
  expect(chat.out().slice(before)).toBe("Reply one.\n> Two\n");
  chat.finish();
  await expect.poll(chat.out).toContain("> Thr");
  chat.press("ee\r");
  await chat.saidSoFar(3);
  expect(chat.said).toEqual(["One", "Two", "Three"]);
  chat.press(CTRL_C);
  expect(await chat.ended).toBe(0);
});

test("Ctrl-C during a reply cancels it, and says what became of it", async () => {
  const chat = await openChat();
  chat.press("One\r");
  await chat.saidSoFar(1);
  chat.tell({ type: "delta", text: "Rep" });
  chat.press(CTRL_C);
  expect(await chat.ended).toBe(0);
  expect(chat.cancelled).toEqual(["/v1/messages/cancel"]);
  expect(chat.err()).toContain("Cancelled.");
  expect(chat.err()).not.toContain("goes on");
});

test("a reply is broken between words, and a step that is over has no words of patience", async () => {
  const chat = await openChat(20);
  chat.press("One\r");
  await chat.saidSoFar(1);
  const before = chat.out().length;
  const step = { type: "step", id: "order_status", text: "One moment: order status \u2026" };
  chat.tell({ ...step, phase: "running" }, { ...step, phase: "done" });
  chat.tell({ type: "delta", text: "Your order left the wareho" }, { type: "delta", text: "use today." });
  chat.finish();
  await expect.poll(() => chat.out().slice(before)).toContain("Your order left the\nwarehouse today.\n");
  expect(chat.err()).toContain("[running] order_status: One moment");
  expect(chat.err()).toContain("[done] order_status\u001b");
  chat.press(CTRL_C);
  expect(await chat.ended).toBe(0);
});
