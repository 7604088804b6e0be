import type { Socket } from "node:net";
import type { Usage } from "../../../machines/run.ts";
import { openOpenAi } from "../../../src/models/openai.ts";
import type { WayName } from "../../../src/models/way.ts";
import { openHolds } from "../../support/servers/model-server.ts";
import { noPause } from "../../support/servers/open-model.ts";
import { startRawServer } from "../../support/servers/raw-server.ts";
import { closeWithTest } from "./far-end.ts";
import type { FarTurn, PlayedModel } from "./far-end.ts";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/** What a server sends of a turn, as the data of events. */
interface PlayedWire {
  api: WayName;
  text: (content: string) => string;
  call: (call: { nth: number; name: string; arguments: string }) => string[];
  end: (turn: { calls: number; usage: Usage | null }) => string[];
}

const chat: PlayedWire = {
  api: "chat",
  text: (content) => choice({ content }),
  call: ({ nth, name, arguments: args }) => [
    choice({ tool_calls: [{ index: nth, id: `call_${nth}`, function: { name, arguments: args } }] }),
  ],
  end: ({ calls, usage }) => [
    choice({}, calls > 0 ? "tool_calls" : "stop"),
    ...(usage === null
      ? []
      : [
          JSON.stringify({
            choices: [],
            usage: { prompt_tokens: usage.input, completion_tokens: usage.output },
          }),
        ]),
    "[DONE]",
  ],
};

const responses: PlayedWire = {
  api: "responses",
  text: (delta) => JSON.stringify({ type: "response.output_text.delta", output_index: 0, delta }),
  call: ({ nth, name, arguments: args }) => {
    const [index, item] = [nth + 1, { type: "function_call", call_id: `call_${nth}`, name }];
    return [
      { type: "response.output_item.added", output_index: index, item: { ...item, arguments: "" } },
      { type: "response.function_call_arguments.delta", output_index: index, delta: args },
      { type: "response.output_item.done", output_index: index, item: { ...item, arguments: args } },
    ].map((event) => JSON.stringify(event));
  },
  end: ({ usage }) => [
    JSON.stringify({
      type: "response.completed",
      response: {
        status: "completed",
        ...(usage && { usage: { input_tokens: usage.input, output_tokens: usage.output } }),
      },
    }),
  ],
};

/** The OpenAI client on a server of plain sockets: each `read` leaves in one packet, an event in a chunk of its own. */
export function playOpenAi(turns: readonly FarTurn[]): Promise<PlayedModel> {
  return play(turns, chat);
}

/** The same on a server of the Responses API. */
export function playResponses(turns: readonly FarTurn[]): Promise<PlayedModel> {
  return play(turns, responses);
}

async function play(turns: readonly FarTurn[], wire: PlayedWire): Promise<PlayedModel> {
  const holds = openHolds();
  let requests = 0;
  let left = 0;

  const server = await startRawServer((socket, nth) => {
    requests += 1;
    const leaves = (): void => void (left += 1);
    socket.once("close", leaves);
    void playTurn(socket, turns[nth] ?? [], { wire, hold: holds.pass }).then(() =>
      socket.off("close", leaves),
    );
  });
  const { api } = wire;
  const model = openOpenAi({ apiKey: null, api, baseUrl: server.origin, silenceMs: 600_000, pause: noPause });
  closeWithTest(model);
  return {
    model,
    requests: () => requests,
    left: () => left,
    held: holds.held,
    release: holds.release,
  };
}

async function playTurn(
  socket: Socket,
  turn: FarTurn,
  { wire, hold }: { wire: PlayedWire; hold: () => Promise<void> },
): Promise<void> {
  let unsent = HEAD;
  let usage: Usage | null = null;
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
        await send(...act.texts.map(wire.text));
        break;
      case "call":
        await send(...wire.call({ nth: calls, name: act.name, arguments: act.arguments }));
        calls += 1;
        break;
      case "usage":
        usage = act.usage;
        break;
      case "hold":
        await hold();
        break;
      case "lost":
        socket.resetAndDestroy();
        return;
    }
  }
  await send(...wire.end({ calls, usage }));
  socket.write("0\r\n\r\n");
}

function choice(delta: object, finishReason: string | null = null): string {
  return JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
