import { z } from "zod";
import { declaredType } from "../../domain/threads/attachments.ts";
import type { HistoryItem } from "../../protocol/history.ts";
import { addressOfFile } from "../files/sent-parts.ts";
import { itemOf, shownMessageId } from "../history-page.ts";
import type { HistoryShape } from "../history-page.ts";
import { sourcePart, stepPart } from "./ui-frames.ts";

/** A thread's message in the form of the AI SDK's client. */
export const uiMessage = z.object({
  id: z
    .string()
    .describe(
      "Of a user's message the id that it came with; of a reply its run, as in the stream that told it",
    ),
  role: z.enum(["user", "assistant"]),
  parts: z
    .array(z.looseObject({ type: z.string() }))
    .describe("Files, steps (data-step), sources, and the text"),
  metadata: z
    .looseObject({ createdAt: z.int() })
    .describe("createdAt, and author, model or error as in the history"),
});

export const EXAMPLE_UI_MESSAGES: z.infer<typeof uiMessage>[] = [
  {
    id: "msg-7Hq2",
    role: "user",
    parts: [{ type: "text", text: "Where is my order?" }],
    metadata: { createdAt: 1_800_000_000_000 },
  },
  {
    id: "fJ0bqXz1nUO5o6pVh2xkSA",
    role: "assistant",
    parts: [
      {
        type: "data-step",
        id: "find_order",
        data: { id: "find_order", phase: "done", text: "Looking for the order" },
      },
      { type: "text", text: "It is on its way." },
    ],
    metadata: { createdAt: 1_800_000_002_000 },
  },
];

/** A page of history as UI messages. The text is the last part, so that a long one can be written while it is read. */
export const uiMessages = (threadId: string): HistoryShape => ({
  begin: "[",
  end: "]",
  around(message, addresses) {
    const {
      id: _,
      role,
      content: _text,
      clientMessageId: _id,
      attachments = [],
      files = [],
      steps = [],
      sources = [],
      ...rest
    } = itemOf(message, addresses);
    const { createdAt, author, model, error } = rest;
    const others = [
      ...attachments.map(imagePart),
      ...files.map((file) => filePart(threadId, file)),
      ...steps.map(stepPart),
      ...sources.map(sourcePart),
    ];
    const before = JSON.stringify({ id: shownMessageId(message), role, parts: others }).slice(0, -2);
    const metadata = JSON.stringify({ createdAt, author, model, error });
    return {
      before: `${before}${others.length > 0 ? "," : ""}{"type":"text","text":"`,
      after: `"}],"metadata":${metadata}}`,
    };
  },
});

function imagePart({ url, name }: { url: string; name?: string | undefined }) {
  const mediaType = declaredType(url) ?? "image/*";
  return { type: "file", mediaType, url, ...(name === undefined ? {} : { filename: name }) };
}

/** Its address is for a request with the visitor's token; sent back, it means this file. */
function filePart(threadId: string, { id, name, type }: FileOfItem) {
  return { type: "file", mediaType: type, url: addressOfFile(threadId, id), filename: name };
}

type FileOfItem = NonNullable<HistoryItem["files"]>[number];
