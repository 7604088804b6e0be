import type { Note } from "./known-quirks.ts";
import type { Quirks } from "./quirks.ts";

interface Words {
  says: string;
  remedy: string;
}

/**
 * A lesson in words for operators: what the model is not sent, or is sent otherwise, and what to do about it. One note for
 * each quirk that changed.
 */
export function notesOf(
  before: Quirks,
  after: Quirks,
  { lasts, tools, isKnown }: { lasts: boolean; tools: readonly string[]; isKnown: boolean },
): Note[] {
  const names = (Object.keys(after) as (keyof Quirks)[]).filter((name) => after[name] !== before[name]);
  const fields = after.leftOut.filter((name) => !before.leftOut.includes(name));
  const keywords = after.schemaKeywords.filter((name) => !before.schemaKeywords.includes(name));
  const words = wordsFor(after, { fields, keywords, tools });
  // A sentence that is kept only where the server is known.
  const profile = isKnown || lasts ? "" : `; "profile" with its server's name keeps it for an hour`;
  return names
    .filter((name) => name !== "leftOut" || (fields.length > 0 && !names.includes("maxTokensField")))
    .map((name) => {
      const { says, remedy } = words[name];
      return { quirk: name, says, remedy: `${remedy}${profile}`, lasts };
    });
}

const inFile = (setting: string) => `set ${setting} of its provider in PROVIDERS_FILE`;
const FORM = "nothing, the service does it";

function wordsFor(
  after: Quirks,
  {
    fields,
    keywords,
    tools,
  }: { fields: readonly string[]; keywords: readonly string[]; tools: readonly string[] },
): Record<keyof Quirks, Words> {
  return {
    tools: {
      says: "it is offered no tools",
      remedy: `choose a model with tools, or ${inFile('"tools": false')}`,
    },
    systemRole: {
      says: "the instructions are put before the first message of the user",
      remedy: inFile('"systemRole": false'),
    },
    images: {
      says: "images are named instead of shown",
      remedy: `choose a model that sees, or ${inFile('"images": false')}`,
    },
    streamUsage: { says: "usage is not asked for", remedy: inFile('"streamUsage": false') },
    maxTokensField: {
      says:
        after.maxTokensField === null
          ? "the answer's length is not limited"
          : `the answer's length is limited by ${after.maxTokensField}`,
      remedy: inFile(`"maxTokensField": "${after.maxTokensField ?? "max_tokens"}"`),
    },
    thinking: { says: "", remedy: "" },
    textCalls: { says: "", remedy: "" },
    noContent: { says: `a message with only calls has ${after.noContent} content`, remedy: FORM },
    answersResults: { says: "an answer is put after the results of calls", remedy: FORM },
    objectArguments: { says: "arguments of calls are sent as objects", remedy: FORM },
    nineCharIds: { says: "ids of calls are sent with nine characters", remedy: FORM },
    reasoningField: { says: "each message with calls has a reasoning_content", remedy: FORM },
    tellsUnknownCalls: { says: "calls of unknown models are sent as text", remedy: FORM },
    effortNone: {
      says: 'with tools "reasoning_effort" is "none": it calls tools without thinking',
      remedy:
        'choose a model or a server that thinks with tools, or set "reasoningEffort": "none" in the channel\'s agent',
    },
    schemaKeywords: {
      says: `keywords of tools' schemas are left out: ${keywords.join(", ")}`,
      remedy: "leave them out of the tools",
    },
    refusedTools: {
      says: `tools are left out: ${tools.join(", ")}`,
      remedy: "change their schemas to what the refusal asks for",
    },
    leftOut: {
      says: `fields are left out: ${fields.join(", ")}`,
      remedy: `remove them from "body" of its provider, and from the channel's agent`,
    },
    maxInputTokens: {
      says: `histories are cut to about ${after.maxInputTokens} tokens`,
      remedy: "set AGENT_MAX_INPUT_TOKENS to what it takes",
    },
  };
}
