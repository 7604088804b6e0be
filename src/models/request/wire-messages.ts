import { createHash } from "node:crypto";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { Extra, ModelCall, ModelMessage, SpokenMessage } from "../../model.ts";
import type { Quirks } from "../refusals/quirks.ts";
import { userContent } from "./user-content.ts";
import { tellCalls } from "./told-calls.ts";

/** The model that is asked, and its server's quirks. */
export interface Addressee {
  /** PROVIDER/MODEL: calls that it made itself are sent back unchanged. */
  by: string;
  quirks: Quirks;
  /** Does the request offer tools? Some servers refuse calls in a request that offers none. */
  offersTools: boolean;
}

/** The answer to insert where a server requires one and the run ended without. */
const NO_ANSWER = "(no answer)";

/** The messages of a request in the form that one server takes. */
export function wireMessages(
  messages: readonly ModelMessage[],
  { by, quirks, offersTools }: Addressee,
): ChatCompletionMessageParam[] {
  const keepsCalls = quirks.tools && offersTools;
  const isMine = (maker: string | undefined) =>
    keepsCalls && (maker === undefined ? !quirks.tellsUnknownCalls : maker === by);
  const told = tellCalls(messages, isMine);
  const placed = quirks.systemRole ? told : withoutSystemRole(told);
  const turns = inTurns(placed);
  return (quirks.answersResults ? withAnswers(turns) : turns).map((message) =>
    wireMessage(message, by, quirks),
  );
}

function withoutSystemRole(messages: readonly ModelMessage[]): ModelMessage[] {
  const system = messages.flatMap((message) => (message.role === "system" ? [message.content] : []));
  const [first, ...rest] = messages.filter(({ role }) => role !== "system");
  if (first?.role !== "user")
    return [{ role: "user", content: system.join("\n\n") }, ...(first ? [first] : []), ...rest];
  return [{ ...first, content: [...system, first.content].join("\n\n") }, ...rest];
}

/**
 * Many templates of local models refuse two messages of one role in a row. So two of the assistant are joined into one,
 * and NO_ANSWER is put between two of the user, for example after a failed run.
 */
function inTurns(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === "user" && message.role === "user") {
      turns.push({ role: "assistant", content: NO_ANSWER, calls: [] }, message);
    } else if (isPlain(last) && message.role === "assistant") {
      const content = [last.content, message.content].filter((text) => text !== "").join("\n\n");
      turns[turns.length - 1] = { ...message, content };
    } else {
      turns.push(message);
    }
  }
  return turns;
}

function isPlain(message: ModelMessage | undefined): message is SpokenMessage {
  return message?.role === "assistant" && message.calls.length === 0;
}

function withAnswers(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.flatMap((message, at): ModelMessage[] =>
    message.role === "user" && messages[at - 1]?.role === "tool"
      ? [{ role: "assistant", content: NO_ANSWER, calls: [] }, message]
      : [message],
  );
}

function wireMessage(message: ModelMessage, by: string, quirks: Quirks): ChatCompletionMessageParam {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user":
      return { role: "user", content: userContent(message, quirks) };
    case "tool":
      return { role: "tool", tool_call_id: wireId(message.callId, quirks), content: message.content };
    case "assistant": {
      const { content, calls } = message;
      const extra = message.by === by ? allowed(message.extra, quirks) : {};
      if (calls.length === 0) return { ...extra, role: "assistant", content };
      return {
        ...(quirks.reasoningField ? { reasoning_content: "" } : {}),
        ...extra,
        role: "assistant",
        ...wireContent(content, quirks),
        tool_calls: calls.map((call) => wireCall(call, quirks)),
      };
    }
  }
}

function wireContent(content: string, { noContent }: Quirks): { content?: string | null } {
  if (content !== "") return { content };
  switch (noContent) {
    // null, not empty: some servers refuse an empty text.
    case "null":
      return { content: null };
    case "empty":
      return { content: "" };
    case "absent":
      return {};
  }
}

function wireCall(call: ModelCall, quirks: Quirks) {
  const { function: ofFunction, ...ofCall } = allowed(call.extra, quirks);
  const called = { name: call.name, arguments: wireArguments(call.arguments, quirks) };
  return {
    ...ofCall,
    id: wireId(call.callId, quirks),
    type: "function" as const,
    function: typeof ofFunction === "object" ? { ...ofFunction, ...called } : called,
  };
}

function wireArguments(text: string, { objectArguments }: Quirks): string {
  if (!objectArguments) return text;
  // The package's types follow the API; this server requires an object.
  return JSON.parse(text) as string;
}

function wireId(id: string, { nineCharIds }: Quirks): string {
  if (!nineCharIds || /^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, 9);
}

function allowed(extra: Extra | undefined, { leftOut }: Quirks): Extra {
  if (extra === undefined || leftOut.length === 0) return extra ?? {};
  return Object.fromEntries(Object.entries(extra).filter(([name]) => !leftOut.includes(name)));
}
