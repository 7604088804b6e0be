import type { Quirks } from "./quirks.ts";
import type { Sentence } from "./sentences.ts";

/**
 * What each known server takes, wants back, and says. A row is chosen by the host of a provider's base URL, or by its
 * setting `profile`. Sentences teach only where their own row is chosen; elsewhere they help the turn that met them
 * (learn.ts).
 */
export interface Profile {
  /** Where its rules are told. */
  sources: readonly string[];
  /** Hosts of its base URLs; `*` stands for one name in them. */
  hosts: readonly string[];
  /** The port where it listens by its documentation, on this machine. */
  localPort?: number;
  /** Known beforehand; settings win. */
  takes?: Partial<Quirks>;
  sentences: readonly Sentence[];
  /** An answer without a choice is a prompt that its filter blocked. */
  blocksWithoutChoice?: true;
}

const LOCAL = [400, 422, 500, 501];

/** OpenAI's own; Azure says the same. */
const OPENAI: readonly Sentence[] = [
  { says: "Unsupported parameter: '{place}' is not supported with this model.{any}", means: "unknown" },
  { says: "Unsupported parameter: '{place}'", means: "unknown" },
  { says: "Unsupported value: '{place}' does not support {any}", means: "value" },
  { says: "Unrecognized request argument supplied: {place}", means: "unknown" },
  { says: "Unknown parameter: '{place}'", means: "unknown" },
  { says: "Invalid schema for function '{tool}': {any}", means: "tool" },
  { says: "Invalid content type. image_url is only supported by certain models", means: "noImages" },
  {
    says: "Function tools with reasoning_effort are not supported for {name} in {name}. To use function tools, use {name} or set reasoning_effort to 'none'",
    means: "effortNone",
  },
  {
    says: "Function tools with reasoning_effort are not supported for {name} in {name}. Please use {name} instead",
    means: "effortNone",
  },
  {
    says: "This model's maximum context length is {limit} tokens. However, your messages resulted in {counted} tokens{any}",
    means: "tooLong",
  },
  {
    says: "This model's maximum context length is {limit} tokens. However, you requested {counted} tokens{any}",
    means: "tooLong",
  },
  {
    says: "Input tokens exceed the configured limit of {limit} tokens. Your messages resulted in {counted} tokens{any}",
    means: "tooLong",
  },
  { says: "Your input exceeds the context window of this model.{any}", means: "tooLong" },
  {
    says: "Request too large for {name} in organization {name} on tokens per min (TPM): Limit {limit}, Requested {counted}.{any}",
    means: "tooLong",
    status: [413, 429],
  },
  { says: "The model '{name}' does not exist{any}", means: "gone", status: [400, 404] },
];

/** Templates of models, as llama.cpp and servers like it run them: they answer 500 or 400 for what a template refuses. */
const TEMPLATES: readonly Sentence[] = (
  [
    ["{template}Conversation roles must alternate user/assistant/user/assistant/...", "roleOrder"],
    [
      "{template}After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
      "roleOrder",
    ],
    [
      "{template}After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results",
      "roleOrder",
    ],
    ["{template}System role not supported", "noSystemRole"],
    ["{template}Only user, assistant and tool roles are supported, got system", "noSystemRole"],
    ["{template}Only user and assistant roles are supported!", "twoRoles"],
    ["{template}Can only get item pairs from a mapping", "objectArguments"],
    ["{template}Unknown (built-in) filter 'items' for type String{any}", "objectArguments"],
    ["{template}Tool call IDs should be alphanumeric strings with length 9!", "nineCharIds"],
  ] as const
).map(([says, means]) => ({ says, means, status: LOCAL }));

const SERVERS = {
  openai: {
    sources: [
      "https://platform.openai.com/docs/api-reference/chat/create",
      "https://github.com/openai/openai-openapi/issues/541",
      "https://github.com/danny-avila/LibreChat/issues/14355",
    ],
    hosts: ["api.openai.com", "*.api.openai.com"],
    sentences: OPENAI,
  },
  azure: {
    sources: [
      "https://learn.microsoft.com/azure/ai-services/openai/reference",
      "https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter",
    ],
    hosts: ["*.openai.azure.com", "*.cognitiveservices.azure.com", "*.services.ai.azure.com"],
    sentences: [
      ...OPENAI,
      {
        says: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.{any}",
        means: "withheld",
      },
    ],
  },
  mistral: {
    sources: [
      "https://docs.mistral.ai/api/endpoint/chat",
      "https://github.com/anomalyco/opencode/issues/1680",
      "https://github.com/editor-code-assistant/eca/issues/231",
      "https://github.com/zed-industries/zed/issues/37021",
      "https://github.com/charmbracelet/crush/issues/1590",
    ],
    hosts: ["api.mistral.ai", "codestral.mistral.ai"],
    takes: { maxTokensField: "max_tokens", nineCharIds: true, answersResults: true },
    sentences: [
      { says: "Unexpected role 'user' after role 'tool'", means: "roleOrder" },
      { says: "Tool call id was {name} but must be a-z, A-Z, 0-9, with a length of 9", means: "nineCharIds" },
      { says: "Function calling is not enabled for this model", means: "noTools" },
      { says: "Image input is not enabled for this model", means: "noImages" },
      {
        says: "Prompt contains {counted} tokens and {n} draft tokens, too large for model with {limit} maximum context length",
        means: "tooLong",
      },
    ],
  },
  gemini: {
    sources: [
      "https://ai.google.dev/gemini-api/docs/openai",
      "https://ai.google.dev/gemini-api/docs/thought-signatures",
      "https://ai.google.dev/api/generate-content#BlockReason",
      "https://github.com/openai/openai-agents-python/issues/2137",
      "https://github.com/danny-avila/LibreChat/issues/6971",
    ],
    hosts: ["generativelanguage.googleapis.com", "*.aiplatform.googleapis.com", "aiplatform.googleapis.com"],
    blocksWithoutChoice: true,
    sentences: [
      {
        says: "Invalid JSON payload received. Unknown name \"{field}\" at '{place}': Cannot find field",
        means: "keyword",
      },
      { says: "* GenerateContentRequest.{place}: {rest}", means: "tool" },
      {
        says: "Unable to submit request because function call '{name}' in the {n}. content block is missing a 'thought_signature'.{any}",
        means: "unknownCalls",
      },
      {
        says: "function call '{name}' in the {n}. content block is missing a 'thought_signature'.{any}",
        means: "unknownCalls",
      },
      { says: "Developer instruction is not enabled for {name}", means: "noSystemRole" },
      {
        says: "The input token count ({counted}) exceeds the maximum number of tokens allowed ({limit})",
        means: "tooLong",
      },
      {
        says: "The input token count exceeds the maximum number of tokens allowed {limit}",
        means: "tooLong",
      },
      { says: "API key not valid. Please pass a valid API key", means: "keyRefused" },
      { says: "API key expired. Please renew the API key", means: "keyRefused" },
    ],
  },
  deepseek: {
    sources: [
      "https://api-docs.deepseek.com/api/create-chat-completion",
      "https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
      "https://github.com/anomalyco/opencode/issues/24722",
    ],
    hosts: ["api.deepseek.com"],
    takes: { maxTokensField: "max_tokens" },
    sentences: [
      {
        says: "Missing reasoning_content field in the assistant message at message index {n}{any}",
        means: "reasoningField",
      },
      {
        says: "The 'reasoning_content' in the thinking mode must be passed back to the API",
        means: "reasoningField",
      },
      {
        says: "The reasoning_content field must not be included in the input messages",
        means: "unknown",
        names: "reasoning_content",
      },
      {
        says: "Failed to deserialize the JSON body into the target type: {place}: unknown variant 'image_url', expected 'text'{any}",
        means: "noImages",
      },
      { says: "Content Exists Risk", means: "withheld" },
      {
        says: "This model's maximum context length is {limit} tokens. However, you requested {counted} tokens{any}",
        means: "tooLong",
      },
    ],
  },
  anthropic: {
    sources: [
      "https://platform.claude.com/docs/en/api/openai-sdk",
      "https://platform.claude.com/docs/en/api/errors",
    ],
    hosts: ["api.anthropic.com"],
    sentences: [
      { says: "{place}: Extra inputs are not permitted", means: "unknown" },
      { says: "tools.{n}.custom.input_schema: {any}", means: "tool" },
      { says: "messages: text content blocks must be non-empty", means: "noContent" },
      { says: "prompt is too long: {counted} tokens > {limit} maximum", means: "tooLong" },
    ],
  },
  bedrock: {
    sources: ["https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html"],
    hosts: ["bedrock-runtime.*.amazonaws.com"],
    sentences: [
      { says: "The value at toolConfig.{place} must be one of: {any}", means: "tool" },
      { says: "extraneous key [{field}] is not permitted", means: "unknown" },
      { says: "Malformed input request: extraneous key [{field}] is not permitted{any}", means: "unknown" },
    ],
  },
  groq: {
    sources: [
      "https://console.groq.com/docs/errors",
      "https://github.com/groq/groq-typescript/issues/103",
      "https://github.com/vercel/ai/pull/8057",
      "https://github.com/karthink/gptel/issues/774",
    ],
    hosts: ["api.groq.com"],
    sentences: [
      {
        says: "'messages.{n}' : for 'role:assistant' the following must be satisfied[('messages.{n}' : property '{field}' is unsupported{any}",
        means: "unknown",
      },
      {
        says: "'messages.{n}' : for 'role:user' the following must be satisfied[('messages.{n}.content' : value must be a string)]",
        means: "noImages",
      },
      { says: "invalid JSON schema for tool {tool}, tools[{n}].function.parameters: {any}", means: "tool" },
      { says: "'tool calling' is not supported with this model", means: "noTools" },
      {
        says: "Please reduce the length of the messages or completion. Current length is {counted} while limit is {limit}",
        means: "tooLong",
      },
      {
        says: "Request too large for model '{name}' in organization '{name}' service tier '{name}' on tokens per minute (TPM): Limit {limit}, Requested {counted}, please reduce your message size and try again.{any}",
        means: "tooLong",
        status: [413, 429],
      },
      {
        says: "Request too large for model '{name}' in organization '{name}' on tokens per minute (TPM): Limit {limit}, Requested {counted}, please reduce your message size and try again.{any}",
        means: "tooLong",
        status: [413, 429],
      },
    ],
  },
  openrouter: {
    sources: [
      "https://openrouter.ai/docs/api/reference/errors-and-debugging",
      "https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks",
    ],
    hosts: ["openrouter.ai"],
    sentences: [
      // No server that it routes to takes them at the moment: of this turn alone, as all of a 404.
      { says: "No endpoints found that support tool use.{any}", means: "noTools", status: [404] },
      { says: "No endpoints found that support image input", means: "noImages", status: [404] },
      {
        says: "This endpoint's maximum context length is {limit} tokens. However, you requested about {counted} tokens{any}",
        means: "tooLong",
      },
    ],
  },
  ollama: {
    sources: [
      "https://docs.ollama.com/api/openai-compatibility",
      "https://github.com/ollama/ollama/issues/5793",
    ],
    hosts: ["ollama.com"],
    localPort: 11_434,
    takes: { maxTokensField: "max_tokens" },
    sentences: [
      { says: "{name} does not support tools", means: "noTools" },
      { says: '"{name}" does not support thinking', means: "noThinking" },
      { says: 'think value "{name}" is not supported for this model', means: "noThinking" },
      {
        says: "Failed to process inputs: this model is missing data required for image input",
        means: "noImages",
        status: LOCAL,
      },
      { says: "the input length exceeds the context length", means: "tooLong" },
    ],
  },
  vllm: {
    sources: [
      "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
      "https://github.com/vllm-project/vllm/issues/9986",
    ],
    hosts: [],
    sentences: [
      {
        says: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        means: "noTools",
      },
      {
        says: "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]",
        means: "unknown",
        names: "stream_options",
      },
      {
        says: "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {'include_usage': True}}]",
        means: "unknown",
        names: "stream_options",
      },
      { says: "At most 0 image(s) may be provided in one request.{any}", means: "noImages" },
      { says: "{name} is not a multimodal model{any}", means: "noImages" },
      ...TEMPLATES,
      {
        says: "This model's maximum context length is {limit} tokens. However, you requested {counted} tokens{any}",
        means: "tooLong",
      },
      {
        says: "You passed {counted} input tokens and requested {n} output tokens. However, the model's context length is only {n} tokens, resulting in a maximum input length of {limit} tokens.{any}",
        means: "tooLong",
      },
      {
        says: "The decoder prompt (length {counted}) is longer than the maximum model length of {limit}.{any}",
        means: "tooLong",
      },
    ],
  },
  "llama.cpp": {
    sources: [
      "https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
      "https://github.com/idiap/sdialog/issues/122",
      "https://github.com/ggml-org/llama.cpp/issues/13471",
      "https://github.com/ggml-org/llama.cpp/issues/19851",
    ],
    hosts: [],
    sentences: [
      ...TEMPLATES,
      { says: "tools param requires --jinja flag", means: "noTools", status: LOCAL },
      {
        says: "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        means: "noImages",
        status: LOCAL,
      },
      { says: "Expected 'content' to be a string or an array", means: "noContent", status: LOCAL },
      {
        says: "the request exceeds the available context size, try increasing it",
        means: "tooLong",
        status: LOCAL,
      },
      {
        says: "request ({counted} tokens) exceeds the available context size ({limit} tokens), try increasing it",
        means: "tooLong",
        status: LOCAL,
      },
    ],
  },
  lmstudio: {
    sources: [
      "https://lmstudio.ai/docs/developer/openai-compat",
      "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/261",
      "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/842",
    ],
    hosts: [],
    localPort: 1_234,
    takes: { maxTokensField: "max_tokens" },
    sentences: [
      {
        says: "Invalid 'content': 'content' field must be a string or an array of objects",
        means: "noContent",
      },
      { says: "Model does not support images. Please use a model that does", means: "noImages" },
      {
        says: 'Error rendering prompt with jinja template: "Unknown StringValue filter: items".{any}',
        means: "objectArguments",
      },
      {
        says: 'Error rendering prompt with jinja template: "Conversation roles must alternate user/assistant/user/assistant/...".{any}',
        means: "roleOrder",
      },
      {
        says: 'Error rendering prompt with jinja template: "System role not supported".{any}',
        means: "noSystemRole",
      },
      {
        says: 'Error rendering prompt with jinja template: "Only user and assistant roles are supported!".{any}',
        means: "twoRoles",
      },
      {
        says: "Trying to keep the first {counted} tokens when context the overflows. However, the model is loaded with context length of only {limit} tokens{any}",
        means: "tooLong",
      },
      {
        says: "Trying to keep the first {counted} tokens when the model is loaded with context length of only {limit} tokens{any}",
        means: "tooLong",
      },
    ],
  },
  omlx: {
    sources: ["https://github.com/jundot/omlx"],
    hosts: [],
    sentences: [
      ...TEMPLATES,
      {
        says: "Tool call id was {name} but must be a-z, A-Z, 0-9, with a length of 9",
        means: "nineCharIds",
        status: LOCAL,
      },
    ],
  },
  sglang: {
    sources: ["https://docs.sglang.ai/basic_usage/openai_api_completions.html"],
    hosts: [],
    sentences: [
      ...TEMPLATES,
      {
        says: "The input ({counted} tokens) is longer than the model's context length ({limit} tokens)",
        means: "tooLong",
      },
    ],
  },
  tgi: {
    sources: ["https://huggingface.co/docs/text-generation-inference/messages_api"],
    hosts: [],
    sentences: [
      {
        says: "Input validation error: 'inputs' tokens + 'max_new_tokens' must be <= {limit}. Given: {counted} 'inputs' tokens and {n} 'max_new_tokens'",
        means: "tooLong",
      },
      // Its JSON is read in Rust, which lists the fields that it knows.
      {
        says: "Failed to deserialize the JSON body into the target type: unknown field '{field}', expected one of {any}",
        means: "unknown",
      },
      {
        says: "Failed to deserialize the JSON body: unknown field '{field}', expected one of {any}",
        means: "unknown",
      },
      { says: "unknown field '{field}', expected one of {any}", means: "unknown" },
    ],
  },
  xai: {
    sources: [
      "https://docs.x.ai/docs/api-reference",
      "https://github.com/UKGovernmentBEIS/inspect_ai/pull/2267",
      "https://github.com/theopenco/llmgateway/pull/1785",
    ],
    hosts: ["api.x.ai", "*.api.x.ai"],
    sentences: [
      {
        says: "This model's maximum prompt length is {limit} but the request contains {counted} tokens",
        means: "tooLong",
      },
      { says: "Incorrect API key provided: {name}.{any}", means: "keyRefused" },
      { says: "Incorrect%20API%20key%20provided:%20{any}", means: "keyRefused" },
      { says: "Content violates usage guidelines.{any}", means: "withheld", status: [400, 403] },
    ],
  },
  moonshot: {
    sources: [
      "https://platform.moonshot.ai/docs/api/chat",
      "https://github.com/MoonshotAI/kimi-cli/issues/1595",
      "https://github.com/MoonshotAI/kimi-cli/issues/2061",
      "https://github.com/vercel/ai/pull/18921",
    ],
    hosts: ["api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"],
    sentences: [
      {
        says: "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '{path}': {rest}",
        means: "schemaPlace",
      },
      {
        says: "tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '{path}': {rest}",
        means: "schemaPlace",
      },
      { says: "Invalid request: Your request exceeded model token limit: {limit}{any}", means: "tooLong" },
    ],
  },
  alibaba: {
    sources: ["https://www.alibabacloud.com/help/en/model-studio/error-code"],
    hosts: ["*.aliyuncs.com"],
    sentences: [
      { says: "Range of input length should be [{n}, {limit}]", means: "tooLong" },
      {
        says: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [{n}, {limit}]",
        means: "tooLong",
      },
      { says: "Input data may contain inappropriate content.{any}", means: "withheld" },
    ],
  },
  github: {
    sources: ["https://docs.github.com/en/rest/models/inference"],
    hosts: ["models.github.ai", "models.inference.ai.azure.com"],
    sentences: [
      {
        says: "Request body too large for {name} model. Max size: {limit} tokens",
        means: "tooLong",
        status: [413],
      },
    ],
  },
} as const satisfies Record<string, Profile>;

/** LiteLLM passes on what a server says, behind a name of its own, and may add what it tried. */
const BY_LITELLM: readonly Sentence[] = Object.values<Profile>(SERVERS).flatMap(({ sentences }) =>
  sentences.map((sentence) => ({ ...sentence, says: `{litellm}${withTail(sentence.says)}` })),
);

function withTail(says: string): string {
  return /\{(any|rest)\}$/.test(says) ? says : `${says}{any}`;
}

const ROWS = {
  ...SERVERS,
  litellm: {
    sources: [
      "https://docs.litellm.ai/docs/exception_mapping",
      "https://github.com/BerriAI/litellm/pull/34569",
      "https://github.com/onyx-dot-app/onyx/issues/15008",
    ],
    hosts: [],
    localPort: 4_000,
    sentences: BY_LITELLM,
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof ROWS;

export const PROFILES: Readonly<Record<ProfileName, Profile>> = ROWS;

export const PROFILE_NAMES = Object.keys(ROWS) as [ProfileName, ...ProfileName[]];

/**
 * What the libraries say that many servers read their JSON with: Go's encoding/json with DisallowUnknownFields, zod's strict
 * objects (https://zod.dev/error-customization), Joi (https://joi.dev/api). They belong to no server, so nobody keeps them.
 */
const OF_LIBRARIES: readonly Sentence[] = [
  { says: 'json: unknown field "{field}"', means: "unknown" },
  { says: "Unrecognized key(s) in object: '{field}'", means: "unknown" },
  { says: 'Unrecognized key: "{field}"', means: "unknown" },
  { says: '"{field}" is not allowed', means: "unknown" },
];

/** Of every server; for those of which none is known. */
export const ALL_SENTENCES: readonly Sentence[] = [
  ...Object.values(PROFILES).flatMap(({ sentences }) => sentences),
  ...OF_LIBRARIES,
];

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** The row for a server: the one that its settings name, else by its address. null: it is not known. */
export function profileOf(baseUrl: string, named?: ProfileName): ProfileName | null {
  if (named !== undefined) return named;
  const { hostname, port } = new URL(baseUrl);
  const isHere = ({ hosts, localPort }: Profile) =>
    hosts.some((host) => isHost(hostname, host)) ||
    (localPort !== undefined && LOOPBACK.has(hostname) && port === String(localPort));
  return PROFILE_NAMES.find((name) => isHere(PROFILES[name])) ?? null;
}

function isHost(hostname: string, pattern: string): boolean {
  const [names, wanted] = [hostname.split("."), pattern.split(".")];
  return names.length === wanted.length && wanted.every((name, at) => name === "*" || name === names[at]);
}
