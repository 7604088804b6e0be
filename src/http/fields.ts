import { z } from "zod";
import { attributesFit, MAX_ATTRIBUTES_CHARS } from "../domain/people/attributes.ts";
import { declaredType, IMAGE_TYPES, MAX_ATTACHMENTS } from "../domain/threads/attachments.ts";
import { MAX_FILES } from "../domain/threads/files.ts";
import type { SentAttachment } from "../domain/threads/attachments.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { allowsHandOff, peopleNow } from "../domain/threads/hand-off.ts";
import { nameMap } from "../domain/name-map.ts";
import { Refusal } from "../domain/refusal.ts";
import { MAX_DISPLAY_NAME_CHARS, shortDisplayName } from "../domain/people/user.ts";
import { isImageUrl } from "./files/image-url.ts";

/** Fields of several bodies. Lengths are UTF-16 code units (contract, Characters). */

/** An id from a caller: any Unicode except control characters. */
export const callerId = atMost(256)
  .min(1)
  .regex(/^\P{Cc}*$/u);

/** The caller's own id of a message: a repeat with the same text stores nothing (contract, Saying a thing once). */
export const clientMessageId = atMost(128)
  .min(1)
  .regex(/^\P{Cc}*$/u);

/** A thread's id from a page: any text, because a wrong one is 404 and not 422. */
export const widgetThreadId = z.string().min(1);

export const messageText = z.string().min(1);

/**
 * Nothing that is drawn: white space, control characters, what Unicode lets a font leave out (zero-width characters, fillers,
 * variation selectors: UAX #44, Default_Ignorable_Code_Point), and the braille pattern without a dot.
 */
const INVISIBLE = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]*$/u;
/** What people type without a letter. */
const SPACES = /^[\p{White_Space}]*$/u;

/**
 * Throws Refusal("invalid") for a message that hides that it is empty: no image, no file, and a text of characters that nobody sees.
 * Spaces and line breaks alone are a text like any other.
 */
export function mustSaySomething({
  text,
  attachments = [],
  files = [],
}: {
  text: string;
  attachments?: readonly unknown[] | undefined;
  files?: readonly unknown[] | undefined;
}): void {
  if (attachments.length > 0 || files.length > 0 || !INVISIBLE.test(text) || SPACES.test(text)) return;
  throw new Refusal("invalid", "The text has no visible character");
}

/** The run that a stop names: it stops that one or nothing, so a late repeat ends no other. */
export const stoppedRun = atMost(256)
  .min(1)
  .optional()
  .describe("Of the run to stop, as x-run-id names it: without it, whichever is active");
/** A backend's own name for its user. */
export const displayNameText = z
  .string()
  .transform(shortDisplayName)
  .describe(`Stored with the user; a later one replaces it; ${MAX_DISPLAY_NAME_CHARS} characters are kept`);

/** Pathname and search of the page; more than 512 is invalid (contract, Characters). */
export const pagePath = atMost(512);

/** A flat map of what the caller knows of the visitor; its JSON has the limit of a text. */
export const contextMap = nameMap(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** What the caller's site knows of its user; stored with the user. */
export const attributesMap = contextMap
  .refine(attributesFit)
  .describe(
    `Facts of your site about the user, a flat map, of at most ${MAX_ATTRIBUTES_CHARS} characters of JSON: stored with the user, told to the model; a later map replaces the whole one, an empty one removes it`,
  );

/** A BCP 47 language tag: not checked against a list, only given to the model. */
export const localeTag = z.string().regex(/^[A-Za-z0-9]{1,8}(?:[-_][A-Za-z0-9]{1,8}){0,5}$/);

/** Images, each as data (data:) or as an address (https:). */
export const attachmentList = z
  .array(
    z.object({
      url: z
        .string()
        .refine(isImageUrl)
        .describe(
          `data:TYPE;base64,… of ${IMAGE_TYPES.join(", ")}, whose bytes are of that type, or a public https address without credentials, which the model's server fetches`,
        ),
      name: atMost(256)
        .regex(/^\P{Cc}*$/u)
        .optional(),
    }),
  )
  .max(MAX_ATTACHMENTS);

/** The text of a message that may come with files: without these it is not empty. */
export const textWithFiles = z.string();

/** A text that is empty is refused as such where no file comes with it. */
export function saysSomething<Shape extends z.ZodType<{ text: string; files?: string[] | undefined }>>(
  schema: Shape,
): Shape {
  return schema.refine(({ text, files = [] }) => text !== "" || files.length > 0, { path: ["text"] });
}

/** Files that were sent to the thread before. */
export const fileIds = z
  .array(z.string().regex(/^[\w-]{1,64}$/))
  .max(MAX_FILES)
  .optional()
  .describe("The ids of files that were sent to this thread before, 8 at most; else 422");

/** Throws Refusal("invalid") where a channel takes no files. */
export function mustTakeFiles(channel: Pick<Channel, "agent"> | null): void {
  if (channel?.agent.files === false) {
    throw new Refusal("invalid", "This channel takes no files: its agent.files is false");
  }
}

/** Throws Refusal("not-found") if there is no such channel, and Refusal("invalid") if it accepts no such images. */
export function mustTakeImages(
  channel: Pick<Channel, "agent"> | null,
  attachments: readonly SentAttachment[] | undefined,
): void {
  if (attachments === undefined || attachments.length === 0) return;
  if (channel === null) throw new Refusal("not-found", "Unknown channel");
  const { images, imageAddresses = true } = channel.agent;
  if (images !== true) {
    throw new Refusal("invalid", "This channel takes no attachments: its agent.images is not true");
  }
  if (!imageAddresses && attachments.some(({ url }) => declaredType(url) === null)) {
    throw new Refusal(
      "invalid",
      "This channel takes images as data: URLs alone: its agent.imageAddresses is false",
    );
  }
}

export const channelSlug = z.string();

/** In UTF-16 units. zod's own `max` counts code points, as JSON Schema does. */
export function atMost(limitChars: number): z.ZodString {
  return z
    .string()
    .refine((text) => text.length <= limitChars)
    .meta({ maxLength: limitChars });
}

/** Throws Refusal("too-large") if a text, or a value's JSON, is over a character limit. */
export function mustFit(value: unknown, limitChars: number): void {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length > limitChars) throw new Refusal("too-large");
}

const MAX_COMMENT_CHARS = 2_000;

/** A rating of a reply (contract, Feedback). */
export const feedbackBody = z.object({
  messageId: z.string().min(1).describe("The id of a reply, as the history has it"),
  rating: z.enum(["up", "down"]).nullable().describe("null takes the former one back"),
  comment: z
    .string()
    .optional()
    .meta({ maxLength: MAX_COMMENT_CHARS })
    .describe("In the visitor's words; over the length it is 413. One that is empty is none"),
});

type Feedback = z.infer<typeof feedbackBody>;

/** Throws Refusal("too-large"). */
export function commentMustFit({ comment = "" }: Feedback): void {
  mustFit(comment, MAX_COMMENT_CHARS);
}

export function givenBy({ messageId, rating, comment = "" }: Feedback) {
  return { messageId, rating, ...(comment.trim() === "" ? {} : { comment }) };
}

/** Why a person is asked for, in the caller's words: shown to operators. */
export const handOffReason = z
  .string()
  .max(1_000)
  .optional()
  .describe("Why, for the person who answers: at most 1,000 characters");

/** Which operators should answer. */
export const handOffQueue = z
  .string()
  .max(50)
  .optional()
  .describe("One of the channel's queues; without it: any operator");

/** As below; Refusal("conflict") also outside the channel's hours: then a person is not asked for. */
export function mustHavePeople(
  channel: Pick<Channel, "handoff"> | null,
  nowMs: number,
  queue?: string,
): void {
  mustAllowHandOff(channel, queue);
  const people = peopleNow(channel, nowMs);
  if (people.type !== "away") return;
  const again = people.againAtMs === null ? "" : `: again at ${new Date(people.againAtMs).toISOString()}`;
  throw new Refusal("conflict", `Nobody is there now${again}`);
}

/** Throws Refusal("conflict") if the channel allows no hand-off, Refusal("invalid") if it has no such queue. */
export function mustAllowHandOff(channel: Pick<Channel, "handoff"> | null, queue?: string): void {
  if (!allowsHandOff(channel)) throw new Refusal("conflict", "This channel has no hand-off");
  if (queue !== undefined && !(channel?.handoff?.queues ?? []).includes(queue))
    throw new Refusal("invalid", "queue: the channel has none of that name");
}

/** The call that a step asks to approve, and whether it may be made. */
export const decisionBody = z.object({
  callId: z.string().min(1).max(64).describe("Of the step's `approval`"),
  approved: z.boolean().describe("Whether the call may be made"),
});

export const NOT_WAITING = {
  conflict: "No call of this id waits for this approval, or it was decided otherwise before",
};

export const EXAMPLE_DECISION = { callId: "q8Jx0bq2SxmV5pS0gQ1k3A", approved: true };

/** The item in whose place a message stands. */
export const replacedItem = z
  .string()
  .max(16)
  .optional()
  .describe("The id of a user's message of this thread, in whose place this one stands: a branch begins");

/** The reply in whose place another one is wanted. */
export const repliedItem = z.string().max(16).describe("The id of a reply of the assistant");

export const NO_BRANCH = {
  "not-found": "Not the user's thread, or no such item in the branch that is shown",
};
