import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";

/** What a server sends of one turn, whichever API it speaks. */
export interface PlayedTurn {
  thought?: { text: string; signature: string };
  text?: string;
  calls?: readonly { id: string; name: string; arguments: Record<string, unknown> }[];
  usage: { input: number; output: number };
}

/** The wire of one provider, by its published rules, as its package of the AI SDK speaks it. */
export interface Wire {
  package: string;
  /** Where it is not the only one of its kind. */
  create?: string;
  /** As an owner writes it; the service's base URL is at `url`. */
  settings: (url: string) => Record<string, unknown>;
  path: RegExp;
  contentType: string;
  frames: (turn: PlayedTurn) => (string | Uint8Array)[];
  /** The thought's signature comes back with the turn, and is in this place of the next request, as text. */
  givesBack: boolean;
  sources: readonly string[];
}

const sse = (data: object, event?: string) =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
const inPieces = (text: string) => text.match(/.{1,3}/gsu) ?? [];

function anthropicFrames({ thought, text, calls = [], usage }: PlayedTurn): string[] {
  const frames: object[] = [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage: { input_tokens: usage.input, output_tokens: 1 },
      },
    },
  ];
  let index = 0;
  const block = (content_block: object, deltas: object[]) => {
    frames.push({ type: "content_block_start", index, content_block });
    for (const delta of deltas) frames.push({ type: "content_block_delta", index, delta });
    frames.push({ type: "content_block_stop", index });
    index += 1;
  };
  if (thought)
    block({ type: "thinking", thinking: "", signature: "" }, [
      ...inPieces(thought.text).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: thought.signature },
    ]);
  if (text !== undefined)
    block(
      { type: "text", text: "" },
      inPieces(text).map((piece) => ({ type: "text_delta", text: piece })),
    );
  for (const { id, name, arguments: args } of calls)
    block(
      { type: "tool_use", id, name, input: {} },
      inPieces(JSON.stringify(args)).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    );
  frames.push(
    {
      type: "message_delta",
      delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: usage.output },
    },
    { type: "message_stop" },
  );
  return frames.map((frame) => sse(frame, (frame as { type: string }).type));
}

function chatFrames(
  { thought, text, calls = [], usage }: PlayedTurn,
  thoughts: (thought: NonNullable<PlayedTurn["thought"]>) => object[] = () => [],
): string[] {
  const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
    sse({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    });
  return [
    chunk({ role: "assistant", content: "" }),
    ...(thought ? thoughts(thought).map((delta) => chunk(delta)) : []),
    ...inPieces(text ?? "").map((content) => chunk({ content })),
    ...calls.map(({ id, name, arguments: args }, index) =>
      chunk({
        tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
      }),
    ),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop", {
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      },
    }),
    "data: [DONE]\n\n",
  ];
}

function googleFrames({ thought, text, calls = [], usage }: PlayedTurn): string[] {
  const parts = [
    ...(thought ? [{ text: thought.text, thought: true }] : []),
    ...inPieces(text ?? "").map((piece) => ({ text: piece })),
    ...calls.map(({ name, arguments: args }, nth) => ({
      functionCall: { name, args },
      ...(nth === 0 && thought ? { thoughtSignature: thought.signature } : {}),
    })),
  ];
  const usageMetadata = {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
  };
  return parts.map((part, nth) =>
    sse({
      candidates: [
        {
          content: { role: "model", parts: [part] },
          ...(nth === parts.length - 1 ? { finishReason: "STOP" } : {}),
        },
      ],
      usageMetadata,
    }),
  );
}

function responsesFrames({ thought, text, calls = [], usage }: PlayedTurn): string[] {
  const output: Record<string, unknown>[] = [
    ...(thought
      ? [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: thought.signature }]
      : []),
    ...(text === undefined
      ? []
      : [
          {
            type: "message",
            id: "msg_1",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(args),
      status: "completed",
    })),
  ];
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m", status: "in_progress" };
  const events: object[] = [{ type: "response.created", response }];
  for (const [output_index, item] of output.entries()) {
    const begun = item["type"] === "function_call" ? { ...item, arguments: "" } : item;
    events.push({ type: "response.output_item.added", output_index, item: begun });
    if (item["type"] === "message")
      for (const delta of inPieces(text ?? ""))
        events.push({
          type: "response.output_text.delta",
          item_id: "msg_1",
          output_index,
          content_index: 0,
          delta,
        });
    if (item["type"] === "function_call")
      events.push({
        type: "response.function_call_arguments.delta",
        item_id: item["id"],
        output_index,
        delta: item["arguments"],
      });
    events.push({ type: "response.output_item.done", output_index, item });
  }
  events.push({
    type: "response.completed",
    response: {
      ...response,
      status: "completed",
      output,
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: 0 },
      },
    },
  });
  return events.map((event, sequence_number) => sse({ ...event, sequence_number }));
}

const codec = new EventStreamCodec(toUtf8, fromUtf8);

function bedrockFrames({ thought, text, calls = [], usage }: PlayedTurn): Uint8Array[] {
  const frame = (type: string, body: object) =>
    codec.encode({
      headers: {
        ":event-type": { type: "string", value: type },
        ":content-type": { type: "string", value: "application/json" },
        ":message-type": { type: "string", value: "event" },
      },
      body: fromUtf8(JSON.stringify(body)),
    });
  let index = 0;
  const frames = [frame("messageStart", { role: "assistant" })];
  const block = (start: object | null, deltas: object[]) => {
    if (start) frames.push(frame("contentBlockStart", { contentBlockIndex: index, start }));
    for (const delta of deltas) frames.push(frame("contentBlockDelta", { contentBlockIndex: index, delta }));
    frames.push(frame("contentBlockStop", { contentBlockIndex: index }));
    index += 1;
  };
  if (thought)
    block(null, [
      { reasoningContent: { text: thought.text } },
      { reasoningContent: { signature: thought.signature } },
    ]);
  if (text !== undefined)
    block(
      null,
      inPieces(text).map((piece) => ({ text: piece })),
    );
  for (const { id, name, arguments: args } of calls)
    block({ toolUse: { toolUseId: id, name } }, [{ toolUse: { input: JSON.stringify(args) } }]);
  frames.push(
    frame("messageStop", { stopReason: calls.length > 0 ? "tool_use" : "end_turn" }),
    frame("metadata", {
      usage: {
        inputTokens: usage.input,
        outputTokens: usage.output,
        totalTokens: usage.input + usage.output,
      },
      metrics: { latencyMs: 1 },
    }),
  );
  return frames;
}

const anthropic = {
  settings: (url: string) => ({ baseURL: `${url}/v1`, apiKey: "k" }),
  path: /^\/v1\/messages$/,
  contentType: "text/event-stream",
  frames: anthropicFrames,
  givesBack: true,
  sources: ["https://docs.anthropic.com/en/api/messages-streaming"],
};

export const WIRES: readonly Wire[] = [
  { package: "@ai-sdk/anthropic", ...anthropic },
  // Its third major: version v3 of the interface.
  { package: "anthropic-v3", ...anthropic },
  {
    package: "@ai-sdk/google",
    settings: (url) => ({ baseURL: `${url}/v1beta`, apiKey: "k" }),
    path: /^\/v1beta\/models\/m:streamGenerateContent\?alt=sse$/,
    contentType: "text/event-stream",
    frames: googleFrames,
    givesBack: true,
    sources: [
      "https://ai.google.dev/api/generate-content",
      "https://ai.google.dev/gemini-api/docs/thought-signatures",
    ],
  },
  {
    package: "@ai-sdk/mistral",
    settings: (url) => ({ baseURL: `${url}/v1`, apiKey: "k" }),
    path: /^\/v1\/chat\/completions$/,
    contentType: "text/event-stream",
    frames: (turn) =>
      chatFrames(turn, ({ text }) => [
        { content: [{ type: "thinking", thinking: [{ type: "text", text }] }] },
      ]),
    givesBack: false,
    sources: ["https://docs.mistral.ai/api/endpoint/chat"],
  },
  {
    package: "@ai-sdk/amazon-bedrock",
    settings: (url) => ({ baseURL: url, region: "eu-central-1", apiKey: "k" }),
    path: /^\/model\/m\/converse-stream$/,
    contentType: "application/vnd.amazon.eventstream",
    frames: bedrockFrames,
    givesBack: true,
    sources: ["https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html"],
  },
  {
    package: "@ai-sdk/openai",
    settings: (url) => ({ baseURL: `${url}/v1`, apiKey: "k" }),
    path: /^\/v1\/responses$/,
    contentType: "text/event-stream",
    frames: responsesFrames,
    // By default it refers to what the provider keeps: `"api": "responses"` keeps nothing there.
    givesBack: false,
    sources: ["https://platform.openai.com/docs/api-reference/responses-streaming"],
  },
  {
    package: "@ai-sdk/openai-compatible",
    settings: (url) => ({ name: "local", baseURL: `${url}/v1`, apiKey: "k", includeUsage: true }),
    path: /^\/v1\/chat\/completions$/,
    contentType: "text/event-stream",
    frames: (turn) => chatFrames(turn, ({ text }) => [{ reasoning_content: text }]),
    givesBack: false,
    sources: ["https://platform.openai.com/docs/api-reference/chat/streaming"],
  },
  {
    package: "@openrouter/ai-sdk-provider",
    settings: (url) => ({ baseURL: `${url}/api/v1`, apiKey: "k" }),
    path: /^\/api\/v1\/chat\/completions$/,
    contentType: "text/event-stream",
    frames: (turn) =>
      chatFrames(turn, ({ text, signature }) => [
        {
          reasoning: text,
          reasoning_details: [
            { type: "reasoning.text", text, signature, format: "anthropic-claude-v1", index: 0 },
          ],
        },
      ]),
    givesBack: true,
    sources: ["https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks"],
  },
];
