import type { Socket } from "node:net";
import { openOpenAi } from "../../src/models/openai.ts";
import { openHolds } from "../support/model-server.ts";
import { noPause } from "../support/open-model.ts";
import { startRawServer } from "../support/raw-server.ts";
import { closeWithTest } from "./far-end.ts";
import type { FarTurn, PlayedModel } from "./far-end.ts";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/** The OpenAI client on a server of plain sockets: each `read` leaves in one packet, an event in a chunk of its own. */
export async function playOpenAi(turns: readonly FarTurn[]): Promise<PlayedModel> {
  const holds = openHolds();
  let requests = 0;
  let left = 0;

  const server = await startRawServer((socket, nth) => {
    requests += 1;
    const leaves = (): void => void (left += 1);
    socket.once("close", leaves);
    void playTurn(socket, turns[nth] ?? [], holds.pass).then(() => socket.off("close", leaves));
  });
  const model = openOpenAi({ apiKey: null, baseUrl: server.origin, silenceMs: 600_000, pause: noPause });
  closeWithTest(model);
  return {
    model,
    requests: () => requests,
    left: () => left,
    held: holds.held,
    release: holds.release,
  };
}

async function playTurn(socket: Socket, turn: FarTurn, hold: () => Promise<void>): Promise<void> {
  let unsent = HEAD;
  let usage: object | null = null;
  let calls = 0;
  const send = async (...data: string[]): Promise<void> => {
    const packet = unsent + data.map((text) => chunked(`data: ${text}\n\n`)).join("");
    unsent = "";
    await new Promise<void>((resolve) => socket.write(packet, () => resolve()));
    // The client is in this process, and reads before the next packet leaves.
    for (let rounds = 0; rounds < 2; rounds++) await new Promise(setImmediate);
  };
  for (const act of turn) {
    switch (act.type) {
      case "read":
        await send(...act.texts.map((content) => choice({ content })));
        break;
      case "call": {
        const { name, arguments: args } = act;
        const part = { index: calls, id: `call_${calls}`, function: { name, arguments: args } };
        await send(choice({ tool_calls: [part] }));
        calls += 1;
        break;
      }
      case "usage":
        usage = { prompt_tokens: act.usage.input, completion_tokens: act.usage.output };
        break;
      case "hold":
        await hold();
        break;
      case "lost":
        socket.resetAndDestroy();
        return;
    }
  }
  const last = usage === null ? [] : [JSON.stringify({ choices: [], usage })];
  await send(choice({}, calls > 0 ? "tool_calls" : "stop"), ...last, "[DONE]");
  socket.write("0\r\n\r\n");
}

function choice(delta: object, finishReason: string | null = null): string {
  return JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
