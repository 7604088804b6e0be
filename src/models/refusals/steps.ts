import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { MISSING_FIELD, UNKNOWN_FIELD, UNSUPPORTED_VALUE, WRONG_TYPE } from "./codes.ts";
import {
  effortNone,
  first,
  furtherFields,
  hasKeyword,
  leaveOut,
  noContent,
  noImages,
  noStreamUsage,
  noSystemRole,
  noTools,
  noToolRole,
  objectArguments,
  otherMaxTokens,
  refuse,
} from "./quirk-steps.ts";
import type { Step } from "./quirk-steps.ts";
import { pathOf } from "./refusal.ts";
import type { Place } from "./refusal.ts";
import { toolAt, toolName, toolsWithPlace } from "./refused-tools.ts";
import type { Meaning, Slots } from "./sentences.ts";

type Body = ChatCompletionCreateParamsStreaming;

const ASKS_FOR_THOUGHT = ["reasoning_effort", "reasoning", "think", "thinking"];

interface Heard {
  body: Body;
  slots: Slots;
  /** The field that the sentence is about; null: a slot names it. */
  names: string | null;
}

/** How the next request must differ, by what was said. What a meaning is missing here says is read in faults.ts. */
export const STEPS: Partial<Record<Meaning, (heard: Heard) => Step>> = {
  unknown: ({ body, slots, names }) => atSlot(body, slots, names, "unknown_field"),
  value: ({ body, slots, names }) => atSlot(body, slots, names, "unsupported_value"),

  tool({ body, slots: { tool, place, n } }) {
    const { tools = [] } = body;
    const at = place === undefined ? ["tools", n ?? "", "parameters"].join(".") : place;
    const named =
      tool === undefined ? toolAt(pathOf(at), tools) : tools.find((each) => toolName(each) === tool);
    return refuse(named ? [named] : []);
  },

  // If several have the place, the first one: the next refusal names the next.
  schemaPlace: ({ body, slots }) => refuse(placed(slots, body).slice(0, 1)),

  keyword({ body, slots: { field = "", place = "" } }) {
    const isOfTools = /^(request\.)?tools\b/.test(place) && hasKeyword(body, field);
    return (quirks) =>
      isOfTools && !quirks.schemaKeywords.includes(field)
        ? { ...quirks, schemaKeywords: [...quirks.schemaKeywords, field] }
        : null;
  },

  noTools: ({ body }) => noTools(body),
  noImages: ({ body }) => noImages(body),
  noSystemRole: ({ body }) => noSystemRole(body),
  noToolRole: ({ body }) => noToolRole(body),
  twoRoles: ({ body }) => first(noSystemRole(body), noToolRole(body)),

  // First an answer after each result. If a template still refuses the order, it may not take a system message, and after
  // that no results.
  roleOrder: ({ body }) =>
    first(
      (quirks) => (quirks.answersResults ? null : { ...quirks, answersResults: true }),
      noSystemRole(body),
      noToolRole(body),
    ),

  reasoningField: () => (quirks) => (quirks.reasoningField ? null : { ...quirks, reasoningField: true }),
  unknownCalls: () => (quirks) => (quirks.tellsUnknownCalls ? null : { ...quirks, tellsUnknownCalls: true }),
  nineCharIds: () => (quirks) => (quirks.nineCharIds ? null : { ...quirks, nineCharIds: true }),
  objectArguments: ({ body }) => objectArguments(body),

  // Ollama names the feature, not the fields that ask for it.
  noThinking: ({ body }) => leaveOut(ASKS_FOR_THOUGHT.filter((name) => name in body)),

  noContent: ({ body }) => noContent(body),
  effortNone: ({ body }) => effortNone(body),
};

/** How the next request must differ, where the server names a place and says in a code what is wrong there. */
export function stepAt({ path, kind }: Place, body: Body): Step | null {
  const [top] = path;
  const isUnknown = UNKNOWN_FIELD.has(kind);
  const isNotTaken = isUnknown || UNSUPPORTED_VALUE.has(kind);
  if (top === "messages") return stepInMessage(path, kind, body);
  if (top === "tools") {
    if (path.length === 1) return isNotTaken ? noTools(body) : null;
    const tool = kind === "unknown_name" ? null : toolAt(path, body.tools ?? []);
    return tool && refuse([tool]);
  }
  if (top === "reasoning_effort" && !(isNotTaken && "reasoning_effort" in body)) return effortNone(body);
  if (top === "stream_options") return isUnknown ? noStreamUsage(body) : null;
  if (top === "max_tokens" || top === "max_completion_tokens")
    return isUnknown ? otherMaxTokens(top, body) : null;
  return isNotTaken && typeof top === "string"
    ? leaveOut(furtherFields(body).filter((name) => name === top))
    : null;
}

/** `["messages", 2, …]`; FastAPI adds the role or the type that it tried. */
function stepInMessage(path: readonly (string | number)[], kind: string, body: Body): Step | null {
  const [, at, ...within] = path;
  const message = typeof at === "number" ? body.messages[at] : undefined;
  if (!message) return null;
  const leaf = within.at(-1);
  const isNotTaken = UNKNOWN_FIELD.has(kind) || UNSUPPORTED_VALUE.has(kind);
  if (leaf === "role" && isNotTaken)
    return message.role === "system" ? noSystemRole(body) : message.role === "tool" ? noToolRole(body) : null;
  if (leaf === "reasoning_content" && MISSING_FIELD.has(kind))
    return STEPS.reasoningField?.(NO_SLOTS(body)) ?? null;
  if (isNotTaken) return leaveOut(furtherFields(body).filter((name) => name === leaf));
  if (!WRONG_TYPE.has(kind)) return null;
  if (within.includes("arguments")) return objectArguments(body);
  // Deeper places are about one image.
  if (!within.includes("content") || within.some((part) => typeof part === "number")) return null;
  if (Array.isArray(message.content)) return noImages(body);
  return message.role === "assistant" && !message.content ? noContent(body) : null;
}

const NO_SLOTS = (body: Body): Heard => ({ body, slots: {}, names: null });

/** A field or a place that a sentence names. */
function atSlot(body: Body, { place, field }: Slots, names: string | null, kind: string): Step {
  const path = pathOf(names ?? field ?? place ?? "");
  const [only, ...deeper] = path;
  // A name alone may be a field of the messages.
  const isOfMessages = deeper.length === 0 && typeof only === "string" && !(only in body);
  const step = isOfMessages
    ? leaveOut(furtherFields(body).filter((name) => name === only))
    : stepAt({ path, kind }, body);
  return step ?? (() => null);
}

function placed({ path = "", rest = "" }: Slots, { tools = [] }: Body) {
  return toolsWithPlace(pathOf(path), rest, tools);
}

/** A tool that shares a place with another one may be the wrong one. */
export function isGuess(means: Meaning, slots: Slots, body: Body): boolean {
  return means === "schemaPlace" && placed(slots, body).length > 1;
}
