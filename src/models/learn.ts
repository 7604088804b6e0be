import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { MaxTokensField, Quirks } from "./quirks.ts";
import { namedTools, withRefused } from "./refused-tools.ts";
import { withoutKeywords } from "./schema-keywords.ts";
import { wordsOf } from "./words-of.ts";

/**
 * What a refused request teaches. Servers differ in what they take, and say so in the text of their refusals. Each rule
 * matches texts that servers were seen to use (README.md names the servers), changes the quirks so that the next
 * request differs, and applies only to what this request contained: so a request is repeated a few times at most.
 */
export interface Refused {
  status: number;
  /** The answer's body, as text. */
  text: string;
  body: ChatCompletionCreateParamsStreaming;
}

/** Local servers answer 500 if a model's template refuses the messages, OpenRouter 404 if no server takes them. */
const STATUSES = new Set([400, 404, 422, 500, 501]);

interface Said extends Refused {
  /** The body's text, without the punctuation of JSON. */
  words: string;
}

type Rule = (said: Said, quirks: Quirks) => Quirks | null;

/** The quirks with what this refusal teaches; null if it teaches nothing that a repeat could use. */
export function learn(refused: Refused, quirks: Quirks): Quirks | null {
  if (!STATUSES.has(refused.status)) return null;
  const words = withoutList(wordsOf(refused.text));
  for (const rule of RULES) {
    const learned = rule({ ...refused, words }, quirks);
    if (learned) return learned;
  }
  return null;
}

/** Servers in Rust list the fields that they know after the one that they refuse: that list is ignored. */
function withoutList(words: string): string {
  const at = words.search(/\bexpected one of\b/i);
  return at < 0 ? words : words.slice(0, at);
}

/** Texts that refuse a field. */
const NOT_TAKEN =
  /unsupported|not supported|n.t support|unrecogni[sz]ed|unknown|extra|not permitted|not allowed|unexpected|additional propert|forbidden|not a valid|invalid (field|param|argument|property)|does not exist|deprecated|only the default/i;

const streamUsage: Rule = ({ words, body }, quirks) =>
  words.includes("stream_options") && body.stream_options ? { ...quirks, streamUsage: false } : null;

const maxTokens: Rule = ({ words, body }, quirks) => {
  const sent = quirks.maxTokensField;
  if (sent === null || body[sent] === undefined || !words.includes(sent) || !NOT_TAKEN.test(words))
    return null;
  const other: MaxTokensField = sent === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  const leftOut = [...quirks.leftOut, sent];
  return { ...quirks, leftOut, maxTokensField: leftOut.includes(other) ? null : other };
};

const NO_TOOLS =
  /\b(tools?|tool (use|choice|calling|calls)|function calling)\b[^.]{0,60}\b(not supported|unsupported|not enabled|not available)|(not|n.t) support(ed)?\b[^.]{0,40}\b(tools?|tool (use|calling)|function calling)\b|found that support tool use|enable-auto-tool-choice|tools param requires|extra_forbidden loc body tools\b/i;

/** `tools` itself as an unknown field, not a part of it. */
const UNKNOWN_TOOLS =
  /\b(unknown|unrecogni[sz]ed|unsupported|unexpected|extraneous) (request )?(field|parameter|argument|key|property|name)( s in object| in object| supplied)? tools\b(?! ?\d)(?!\.)|\btools (is |are |extra inputs are )?not (allowed|permitted)\b|\badditional properties param tools\b/i;

const noTools: Rule = ({ words, body }, quirks) =>
  body.tools && quirks.tools && (NO_TOOLS.test(words) || UNKNOWN_TOOLS.test(words)) && !/schema/i.test(words)
    ? { ...quirks, tools: false }
    : null;

/** Gemini names each place where an unknown keyword stands. */
const UNKNOWN_KEYWORD = /\bunknown name (\S{1,64}) at (?:request\.)?tools\b/gi;

const schemaKeywords: Rule = ({ words, body }, quirks) => {
  const named = [...words.matchAll(UNKNOWN_KEYWORD)].map(([, keyword = ""]) => keyword);
  const found = [...new Set(named)].filter((keyword) => hasKeyword(body, keyword));
  return found.length === 0 ? null : { ...quirks, schemaKeywords: [...quirks.schemaKeywords, ...found] };
};

/** Texts about images in general. Any other text about images may be about this one only: `refusesAnImage`. */
const NO_IMAGES =
  /\bimage(s|_url| input)?\b( is| are)? (not|only) (supported|enabled|available)|(not|n.t) (currently )?(support|accept|enable)(ed|s)?\b[^.]{0,30}\b(images?|image_url|vision|multi-?modal)( inputs?| content)?\b(?! (type|format|size|url))|unknown variant image_url|unsupported content type[^.]{0,20}\bimage_url|no endpoints found that support image|not a multi-?modal|mmproj|at most 0 images?|required for image input|content\b[^.]{0,30}\bmust be a string|content\b.{0,60}\bvalid string\b/i;

const noImages: Rule = ({ words, body }, quirks) =>
  quirks.images && hasImages(body) && NO_IMAGES.test(words) ? { ...quirks, images: false } : null;

/** May the images of this request, or one of them, be the reason: broken, too large, or no longer there? */
export function refusesAnImage({ status, text, body }: Refused): boolean {
  return (STATUSES.has(status) || status === 413 || status === 415) && hasImages(body) && /image/i.test(text);
}

/** A keyword that Gemini names is left out of all schemas, and its tool stays. */
const refusedTools: Rule = ({ words, body }, quirks) => {
  const named = /\bunknown name\b/i.test(words) ? [] : namedTools(words, body);
  return named.length === 0 ? null : { ...quirks, refusedTools: withRefused(quirks.refusedTools, named) };
};

const NO_SYSTEM_ROLE =
  /\bsystem (role|message|prompt|instruction)s?\b[^.]{0,40}not (be )?(supported|allowed|enabled)|role system\b[^.]{0,40}not supported|got system|developer instruction is not enabled|unexpected role system|only user and assistant roles|role does not support system\b/i;

const noSystemRole: Rule = ({ words, body }, quirks) =>
  has(body, "system") && NO_SYSTEM_ROLE.test(words) ? { ...quirks, systemRole: false } : null;

const ROLE_ORDER =
  /roles? (must|should) (strictly )?alternate|unexpected role|expected last role|message_order/i;

/**
 * First an answer after each result. If a template still refuses the order, it may not take a system message, and after
 * that no results.
 */
const roleOrder: Rule = ({ words, body }, quirks) => {
  if (!ROLE_ORDER.test(words)) return null;
  if (!quirks.answersResults) return { ...quirks, answersResults: true };
  if (has(body, "system")) return { ...quirks, systemRole: false };
  return has(body, "tool") ? { ...quirks, tools: false } : null;
};

const NO_TOOL_ROLE =
  /\b(unknown|invalid|unsupported|unexpected) role tool\b|\brole tool\b[^.]{0,40}\bnot supported\b|\brole does not support tool\b|only user and assistant roles|\bgot tool\b/i;

const noToolRole: Rule = ({ words, body }, quirks) =>
  has(body, "tool") && NO_TOOL_ROLE.test(words) ? { ...quirks, tools: false } : null;

const reasoningField: Rule = ({ words }, quirks) =>
  !quirks.reasoningField &&
  /reasoning_content\b.{0,200}(must be passed|required)|missing reasoning_content/i.test(words)
    ? { ...quirks, reasoningField: true }
    : null;

const unknownCalls: Rule = ({ words }, quirks) =>
  !quirks.tellsUnknownCalls && /thought_signature/i.test(words)
    ? { ...quirks, tellsUnknownCalls: true }
    : null;

const ID_FORM = /tool.?call.?id\b.{0,200}length of 9/i;

const nineCharIds: Rule = ({ words }, quirks) =>
  !quirks.nineCharIds && ID_FORM.test(words) ? { ...quirks, nineCharIds: true } : null;

const WANTS_OBJECT =
  /arguments\b.{0,80}\b(object|dict|dictionary|mapping|map)\b|(object|dict|mapping)\b.{0,80}\barguments\b|\bfilter items\b|can only get item pairs from a mapping/i;

const objectArguments: Rule = ({ words, body }, quirks) =>
  !quirks.objectArguments && spokenWithCalls(body).length > 0 && WANTS_OBJECT.test(words)
    ? { ...quirks, objectArguments: true }
    : null;

/** Read for fields only: about a number the same text may mean that it is too large. */
const NOT_INCLUDED = /\b(must|should|may|can) ?not (be )?(include|contain|present|sent|set|passed)/i;

/** Fields that came from a server or from settings: leaves out the first one that the refusal names. */
const namedField: Rule = ({ words, body }, quirks) => {
  if (!NOT_TAKEN.test(words) && !NOT_INCLUDED.test(words)) return null;
  const said = new Set(words.split(/[^\w-]/));
  const named = furtherFields(body).find((name) => said.has(name));
  return named === undefined ? null : { ...quirks, leftOut: [...quirks.leftOut, named] };
};

/** Ollama does not name the field; it names the feature that the field asks for. */
const NO_THINKING = /\bnot support (thinking|reasoning)\b|\bthink value \S{1,20} is not supported\b/i;
const ASKS_FOR_THOUGHT = ["reasoning_effort", "reasoning", "think", "thinking"];

const noThinking: Rule = ({ words, body }, quirks) => {
  const asked = NO_THINKING.test(words) ? ASKS_FOR_THOUGHT.filter((name) => name in body) : [];
  return asked.length === 0 ? null : { ...quirks, leftOut: [...quirks.leftOut, ...asked] };
};

const NO_CONTENT =
  /content\b.{0,80}\b(null|none|string|array|missing|required|empty|blank)\b|\b(null|missing|empty|expected|invalid)\b.{0,40}\bcontent\b/i;

const noContent: Rule = ({ words, body }, quirks) => {
  const hasNone = spokenWithCalls(body).some(({ content }) => !content);
  if (!hasNone || !NO_CONTENT.test(words) || quirks.noContent === "absent") return null;
  return { ...quirks, noContent: quirks.noContent === "null" ? "empty" : "absent" };
};

const RULES: readonly Rule[] = [
  streamUsage,
  maxTokens,
  noImages,
  reasoningField,
  unknownCalls,
  nineCharIds,
  refusedTools,
  noTools,
  schemaKeywords,
  noSystemRole,
  noToolRole,
  roleOrder,
  objectArguments,
  namedField,
  noThinking,
  noContent,
];

function has(
  { messages }: ChatCompletionCreateParamsStreaming,
  role: ChatCompletionMessageParam["role"],
): boolean {
  return messages.some((message) => message.role === role);
}

function hasImages({ messages }: ChatCompletionCreateParamsStreaming): boolean {
  return messages.some(({ role, content }) => role === "user" && Array.isArray(content));
}

function spokenWithCalls({ messages }: ChatCompletionCreateParamsStreaming) {
  return messages.flatMap((message) => (message.role === "assistant" && message.tool_calls ? [message] : []));
}

function hasKeyword({ tools = [] }: ChatCompletionCreateParamsStreaming, keyword: string): boolean {
  return tools.some((tool) => {
    const { parameters = {} } = tool.type === "function" ? tool.function : {};
    return JSON.stringify(withoutKeywords(parameters, [keyword])) !== JSON.stringify(parameters);
  });
}

const OWN_FIELDS = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "tools",
  "max_tokens",
  "max_completion_tokens",
]);
const MESSAGE_FIELDS = new Set(["role", "content", "tool_calls", "tool_call_id"]);
const CALL_FIELDS = new Set(["id", "type", "function"]);

function furtherFields(body: ChatCompletionCreateParamsStreaming): string[] {
  const ofMessages = body.messages.flatMap((message) => Object.keys(message));
  const ofCalls = spokenWithCalls(body).flatMap(({ tool_calls = [] }) =>
    tool_calls.flatMap((call) => Object.keys(call)),
  );
  const names = [
    ...Object.keys(body).filter((name) => !OWN_FIELDS.has(name)),
    ...ofMessages.filter((name) => !MESSAGE_FIELDS.has(name)),
    ...ofCalls.filter((name) => !CALL_FIELDS.has(name)),
  ];
  return [...new Set(names)];
}
