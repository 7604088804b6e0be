import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { ProfileName } from "../../../src/models/refusals/profiles.ts";
import { bytes, status, usage } from "../../support/servers/model-server.ts";
import type { Act, ModelServerRequest } from "../../support/servers/model-server.ts";

/**
 * The rules of the servers that people point the service at, each as its maker or its users tell it. The services
 * cannot be reached from the tests, so a scripted server plays them: it refuses what they refuse, in their words, and
 * adds what they add.
 */
export interface Dialect {
  name: string;
  /** Its row in profiles.ts; absent: it is not known, and its words help only the turn that meets them. */
  profile?: ProfileName;
  /** Where the rules are told. */
  sources: readonly string[];
  /** The path and query of its base URL, without a slash at the end. */
  base?: string;
  /** Why this request is refused; null: it is not. */
  refusal(request: ModelServerRequest): Refusal | null;
  /** Fields of a call, and of the message that makes it. */
  callFields?(nth: number): { id?: string; call?: object; message?: object };
  /** What comes before the reply's text. */
  before?: readonly Act[];
  /** How many requests of the first message are refused before the service knows the rules; 0 unless given. */
  lessons?: number;
  /** The model has no tools: it answers in words alone. */
  withoutTools?: true;
}

interface Refusal {
  status: number;
  body: unknown;
}

type Body = ChatCompletionCreateParamsStreaming;
/** Messages as they came, with fields that the API does not name. */
type Sent = { role: string; content?: unknown; tool_calls?: SentCall[]; tool_call_id?: string } & Record<
  string,
  unknown
>;
type SentCall = { id: string; function: { arguments: unknown } } & Record<string, unknown>;

const sent = ({ messages }: Body) => messages as unknown as Sent[];
const refused = (code: number, message: string, type = "invalid_request_error"): Refusal => ({
  status: code,
  body: { error: { message, type, param: null, code: null } },
});
const withCalls = (body: Body) => sent(body).filter(({ tool_calls: calls = [] }) => calls.length > 0);

export const chunk = (delta: object, finishReason: string | null = null): Act =>
  bytes(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`);

const MISTRAL_ID = /^[a-zA-Z0-9]{9}$/;

export const DIALECTS: readonly Dialect[] = [
  {
    name: "OpenAI",
    profile: "openai",
    sources: ["https://platform.openai.com/docs/api-reference/chat/create"],
    refusal({ body }) {
      if (body.max_tokens === undefined) return null;
      return refused(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      );
    },
  },
  {
    name: "Azure OpenAI",
    profile: "azure",
    sources: ["https://learn.microsoft.com/azure/ai-services/openai/reference"],
    base: "/openai/deployments/d?api-version=2024-10-21",
    refusal({ path, headers }) {
      if (path !== "/openai/deployments/d/chat/completions?api-version=2024-10-21")
        return refused(404, "Resource not found");
      return headers["api-key"] === "key" && headers.authorization === undefined
        ? null
        : refused(401, "Access denied due to invalid subscription key");
    },
  },
  {
    name: "Mistral",
    profile: "mistral",
    sources: [
      "https://github.com/anomalyco/opencode/issues/1680",
      "https://github.com/editor-code-assistant/eca/issues/231",
      "https://github.com/zed-industries/zed/issues/37021",
      "https://github.com/charmbracelet/crush/issues/1590",
    ],
    refusal({ body }) {
      const extra = (...loc: unknown[]) => ({
        status: 422,
        body: {
          object: "error",
          message: { detail: [{ type: "extra_forbidden", loc, msg: "Extra inputs are not permitted" }] },
        },
      });
      if (body.max_completion_tokens !== undefined) return extra("body", "max_completion_tokens");
      const messages = sent(body);
      const known = new Set(["role", "content", "tool_calls", "tool_call_id", "name", "prefix"]);
      for (const [at, message] of messages.entries()) {
        const field = Object.keys(message).find((name) => !known.has(name));
        if (field) return extra("body", "messages", at, message.role, field);
        for (const { id } of message.tool_calls ?? []) {
          if (!MISTRAL_ID.test(id))
            return {
              status: 400,
              body: {
                object: "error",
                message: `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
                type: "invalid_function_call",
                code: "3280",
              },
            };
        }
        if (message.role === "user" && messages[at - 1]?.role === "tool")
          return {
            status: 400,
            body: {
              object: "error",
              message: "Unexpected role 'user' after role 'tool'",
              type: "invalid_request_message_order",
              code: "3230",
            },
          };
      }
      return null;
    },
    callFields: (nth) => ({ id: `aB3dE5${String(nth).padStart(3, "0")}` }),
  },
  {
    name: "Gemini 3 by its OpenAI door",
    profile: "gemini",
    sources: [
      "https://ai.google.dev/gemini-api/docs/thought-signatures",
      "https://github.com/openai/openai-agents-python/issues/2137",
      "https://github.com/QwenLM/qwen-code/issues/1186",
    ],
    lessons: 1,
    refusal({ body }) {
      const at = "tools[0].function_declarations[0].parameters";
      if (JSON.stringify(body.tools ?? []).includes('"additionalProperties"'))
        return {
          status: 400,
          body: [
            {
              error: {
                code: 400,
                message: `Invalid JSON payload received. Unknown name "additionalProperties" at '${at}': Cannot find field.`,
                status: "INVALID_ARGUMENT",
              },
            },
          ],
        };
      for (const { tool_calls: calls = [] } of withCalls(body)) {
        const [first] = calls;
        const { google } = (first?.["extra_content"] ?? {}) as { google?: { thought_signature?: string } };
        if (google?.thought_signature !== `sig-${first?.id}`)
          return {
            status: 400,
            body: [
              {
                error: {
                  code: 400,
                  message:
                    "Unable to submit request because function call `default_api:buy` in the 2. content block is missing a `thought_signature`.",
                  status: "INVALID_ARGUMENT",
                },
              },
            ],
          };
      }
      return null;
    },
    callFields(nth) {
      const id = `function-call-${nth}`;
      return { id, call: { extra_content: { google: { thought_signature: `sig-${id}` } } } };
    },
  },
  {
    name: "DeepSeek, thinking",
    profile: "deepseek",
    sources: [
      "https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
      "https://github.com/anomalyco/opencode/issues/24722",
    ],
    refusal({ body }) {
      const missing = withCalls(body).some(
        ({ reasoning_content: thought }) => thought !== "I should buy it.",
      );
      return missing
        ? refused(400, "The `reasoning_content` in the thinking mode must be passed back to the API.")
        : null;
    },
    callFields: (nth) => ({ id: `call_00_${nth}`, message: { reasoning_content: "I should buy it." } }),
    before: [chunk({ reasoning_content: "It is " }), chunk({ reasoning_content: "bought." })],
  },
  {
    name: "Anthropic by its OpenAI door",
    profile: "anthropic",
    sources: ["https://platform.claude.com/docs/en/api/openai-sdk"],
    refusal({ body }) {
      const empty = sent(body).some(({ content }) => content === "");
      return empty ? refused(400, "messages: text content blocks must be non-empty") : null;
    },
    callFields: (nth) => ({ id: `toolu_01A${nth}` }),
  },
  {
    name: "Groq",
    profile: "groq",
    sources: ["https://github.com/vercel/ai/pull/8057", "https://github.com/karthink/gptel/issues/774"],
    lessons: 1,
    refusal({ body }) {
      const at = sent(body).findIndex((message) => "reasoning" in message);
      if (at < 0) return null;
      return refused(
        400,
        `'messages.${at}' : for 'role:assistant' the following must be satisfied[('messages.${at}' : property 'reasoning' is unsupported, did you mean 'role'?)]`,
      );
    },
    callFields: (nth) => ({ id: `call_${nth}abc`, message: { reasoning: "Hm." } }),
  },
  {
    name: "OpenRouter",
    profile: "openrouter",
    sources: ["https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks"],
    refusal({ body }) {
      const missing = withCalls(body).some(
        ({ reasoning_details: details }) =>
          JSON.stringify(details) !==
          JSON.stringify([
            { type: "reasoning.text", text: "Hm", index: 0 },
            { type: "reasoning.encrypted", data: "xyz", index: 1 },
          ]),
      );
      return missing ? refused(400, "Provider returned error: missing thought signature") : null;
    },
    callFields: (nth) => ({
      id: `tool_0_buy_${nth}`,
      message: {
        reasoning: "Hm",
        reasoning_details: [{ type: "reasoning.encrypted", data: "xyz", index: 1 }],
      },
    }),
    before: [bytes(": OPENROUTER PROCESSING\n\n")],
  },
  {
    name: "Ollama, a model without tools",
    profile: "ollama",
    sources: ["https://github.com/ollama/ollama/issues/5793"],
    lessons: 1,
    withoutTools: true,
    refusal({ body }) {
      return body.tools
        ? refused(400, "registry.ollama.ai/library/llama3:8b does not support tools", "api_error")
        : null;
    },
  },
  {
    name: "vLLM, started without a tool parser",
    profile: "vllm",
    sources: ["https://github.com/vllm-project/vllm/issues/9986"],
    lessons: 1,
    withoutTools: true,
    refusal({ body }) {
      if (!body.tools) return null;
      return {
        status: 400,
        body: {
          object: "error",
          message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
          type: "BadRequestError",
          param: null,
          code: 400,
        },
      };
    },
  },
  {
    name: "llama.cpp, a template with strict roles and no system message",
    profile: "llama.cpp",
    sources: [
      "https://github.com/idiap/sdialog/issues/122",
      "https://github.com/ggml-org/llama.cpp/issues/13471",
      "https://github.com/microsoft/autogen/issues/1037",
    ],
    lessons: 3,
    refusal({ body }) {
      const spoken = sent(body).filter(({ role, tool_calls: calls }) => role !== "tool" && !calls);
      const alternate = spoken.every(({ role }, at) => (role === "user") === (at % 2 === 0));
      if (!alternate)
        return refused(
          500,
          "\n------------\nWhile executing CallExpression at line 19\nError: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...",
          "server_error",
        );
      const none = sent(body).some(({ content }) => typeof content !== "string");
      return none ? refused(400, "Expected 'content' to be a string or an array") : null;
    },
  },
  {
    name: "LM Studio",
    profile: "lmstudio",
    sources: ["https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/261"],
    lessons: 1,
    refusal({ body }) {
      const none = sent(body).some(({ content }) => typeof content !== "string");
      return none
        ? {
            status: 400,
            body: { error: "Invalid 'content': 'content' field must be a string or an array of objects." },
          }
        : null;
    },
    before: [chunk({ content: "<thi" }), chunk({ content: "nk>Hm.</think>\n\n" })],
  },
];

/** A turn of a model that buys where it is told to, and says so when it has. */
export function playDialect(dialect: Dialect): (request: ModelServerRequest, nth: number) => Act[] {
  let calls = 0;
  return (request) => {
    const refusal = dialect.refusal(request);
    if (refusal) return [status(refusal.status, {}, JSON.stringify(refusal.body))];
    const { body } = request;
    const last = sent(body).at(-1);
    const text = last?.role === "user" && typeof last.content === "string" ? last.content : "";
    const { before = [] } = dialect;
    if (!body.tools || !text.includes("Buy"))
      return [...before, chunk({ content: "So it is." }), usage(5, 3)];
    calls += 1;
    const { id = `call_${calls}`, call = {}, message = {} } = dialect.callFields?.(calls) ?? {};
    const called = { name: "buy", arguments: JSON.stringify({ sku: `s${calls}` }) };
    return [
      ...before.filter(() => message === undefined),
      ...("reasoning_details" in message
        ? [chunk({ reasoning_details: [{ type: "reasoning.text", text: "Hm", index: 0 }] })]
        : []),
      chunk(message),
      chunk({ content: null, tool_calls: [{ index: 0, id, type: "function", ...call, function: called }] }),
      chunk({}, "tool_calls"),
      usage(5, 3),
    ];
  };
}
