import type { PlainLog } from "../../log.ts";
import { ModelFault, WITHHELD } from "../../model.ts";
import type { ModelRequest, ModelTurn, SentRequest, Wrote } from "../../model.ts";
import { ErrorAnswer } from "./error-answer.ts";
import { KeyRefused, modelFaultOf, NoChoice, PassingFault, TooLong } from "../faults.ts";
import { fitInput } from "../input-fit.ts";
import type { KnownQuirks } from "./known-quirks.ts";
import { learn } from "./learn.ts";
import type { Lesson, Refused } from "./learn.ts";
import { notesOf } from "./lesson-notes.ts";
import type { OddAnswer } from "./odd-answers.ts";
import type { Profile } from "./profiles.ts";
import { hasImages } from "./quirk-steps.ts";
import type { Quirks } from "./quirks.ts";
import type { Oddity, Reading, ReadTurn } from "../reply/read-turn.ts";
import { readRefusal } from "./refusal.ts";
import { isRefused, toolName } from "./refused-tools.ts";
import { requestBody } from "../request/request-body.ts";
import { tooLong } from "./too-long.ts";
import type { Way } from "../way.ts";

export interface Asked {
  request: ModelRequest;
  wrote: Wrote;
  signal: AbortSignal;
}

/** A server, with what is known of it. */
export interface Connection {
  name: string;
  way: Pick<Way, "fields" | "place">;
  exchange: Exchange;
  body: Record<string, unknown>;
  quirks: KnownQuirks;
  /** null: the server is not known. */
  profile: Profile | null;
  log: Pick<PlainLog, "warn">;
  /** An answer was odd. */
  odd: (odd: OddAnswer) => void;
}

/**
 * Sends one request, in the form of a chat completion, and reads its answer. Rejects with an ErrorAnswer, with the openai
 * package's APIConnectionError where there was none, or with a ModelFault.
 */
export type Exchange = (
  body: Refused["body"],
  sending: { signal: AbortSignal; traceparent: string | null },
  reading: Reading & { sent: SentRequest },
) => Promise<ReadTurn>;

/** Tools are refused one by one. A turn with more of them fails; the next turn goes on from there. */
const MOST_REFUSALS = 32;

/**
 * Sends the request, and repeats it without what the server says that it does not take: one more quirk each time. What may
 * not be kept (learn.ts) changes this turn alone, and so does an image that may be why it was refused; otherwise its thread
 * would never get a reply again. An input that is too long is shortened; later turns begin with the length that was
 * answered.
 */
export async function streamLearning(
  connection: Connection,
  model: string,
  asked: Asked,
): Promise<ModelTurn> {
  const { quirks } = connection;
  const by = `${connection.name}/${model}`;
  const input = fitInput(asked.request, quirks.of(model).maxInputTokens);
  /** Of this turn alone; null: as all turns. */
  let own: Quirks | null = null;
  let isLimit = true;
  for (let refusals = 0; ; refusals += 1) {
    const sent: Quirks = own ?? quirks.of(model);
    const body = requestBody(input.request(), {
      by,
      model,
      quirks: sent,
      body: connection.body,
      ofWay: connection.way.fields,
    });
    try {
      const { messages } = input.request();
      const turn = await streamOnce(connection, { body, messages, model, quirks: sent }, asked);
      const maxInputTokens = input.found();
      if (maxInputTokens !== null) noteLimit(connection, model, { maxInputTokens, lasts: isLimit });
      return {
        ...turn,
        ...endIn(connection, turn),
        by,
        ...leftOutIn(asked.request, body),
      };
    } catch (error) {
      // Throws the reason of the abort, whatever error the package made of it.
      asked.signal.throwIfAborted();
      if (error instanceof NoChoice && connection.profile?.blocksWithoutChoice)
        return { text: "", calls: [], usage: null, finishReason: "content_filter", by };
      const refused = refusedBy(error, { body, connection });
      // Some servers begin with 200, and refuse in the stream.
      const said = refused ? tooLong(refused.refusal, refused) : error instanceof TooLong ? error.said : null;
      if (said !== null) {
        isLimit &&= said.lasts;
        if (input.shorten(said)) continue;
        throw refused ? new TooLong(said, error) : error;
      }
      const fault = modelFaultOf(error, refused);
      if (refused === null || isDecided(fault)) throw fault;
      const lesson = learn(refused, sent) ?? (mayBeImage(refused) ? WITHOUT_IMAGES : null);
      if (lesson === null) throw fault;
      own = heed(connection, model, { lesson, own, body, cause: fault });
      if (refusals === MOST_REFUSALS) throw fault;
    }
  }
}

/** A filter, the key, or the model's own words: nothing that another form of the request would change. */
function isDecided(fault: unknown): boolean {
  if (fault instanceof PassingFault) return !fault.rests;
  return fault instanceof KeyRefused || (fault instanceof ModelFault && fault.message === WITHHELD);
}

/** Keeps what lasts, and returns the quirks of this turn if they differ from those of all turns. */
function heed(
  connection: Connection,
  model: string,
  { lesson, own, body, cause }: { lesson: Lesson; own: Quirks | null; body: Refused["body"]; cause: unknown },
): Quirks | null {
  const { quirks } = connection;
  const before = quirks.of(model);
  // Other turns may have learned it meanwhile, or this turn knows of something that all others do not.
  const after = lesson.apply(before);
  if (lesson.lasts && after) quirks.note(model, after);
  const sent = own ?? before;
  const next = lesson.apply(sent) ?? sent;
  tell(connection, model, { before: sent, after: next, lasts: lesson.lasts, body, cause });
  return lesson.lasts && own === null ? null : next;
}

/** One warning for each thing that a model is sent otherwise, in an hour. */
function tell(
  { name, quirks, profile, log }: Connection,
  model: string,
  lesson: { before: Quirks; after: Quirks; lasts: boolean; body?: Refused["body"]; cause: unknown },
): void {
  const { before, after, lasts, body, cause } = lesson;
  const refused = (body?.tools ?? []).filter((tool) => isRefused(tool, after) && !isRefused(tool, before));
  const tools = refused.map(toolName);
  for (const note of notesOf(before, after, { lasts, tools, isKnown: profile !== null })) {
    if (!quirks.tell(model, note)) continue;
    const { quirk, says, remedy } = note;
    const fields = {
      model: `${name}/${model}`,
      quirk,
      ...(tools.length > 0 ? { tools } : {}),
      does: says,
      remedy,
    };
    log.warn(
      { ...fields, err: cause },
      lasts
        ? "a model refuses a part of its requests: they are sent otherwise for an hour"
        : "a model refused a part of a request: the turn was sent otherwise",
    );
  }
}

function noteLimit(
  connection: Connection,
  model: string,
  { maxInputTokens, lasts }: { maxInputTokens: number; lasts: boolean },
): void {
  const before = connection.quirks.of(model);
  const after = { ...before, maxInputTokens };
  if (lasts) connection.quirks.note(model, after);
  tell(connection, model, { before, after, lasts, cause: undefined });
}

/** May the images of this request be the reason: broken, too large, or no longer there? Without them it is clear. */
function mayBeImage({ refusal: { status }, body }: Refused): boolean {
  return (status === 400 || status === 413 || status === 415 || status === 422) && hasImages(body);
}

const WITHOUT_IMAGES: Lesson = {
  apply: (quirks) => (quirks.images ? { ...quirks, images: false } : null),
  lasts: false,
};

/** Of some servers an answer without a choice is a filter's. */
function endIn({ profile }: Connection, turn: ReadTurn): Partial<Pick<ModelTurn, "finishReason">> {
  const isBlocked =
    profile?.blocksWithoutChoice === true &&
    turn.finishReason === null &&
    turn.calls.length === 0 &&
    turn.text === "";
  return isBlocked ? { finishReason: "content_filter" } : {};
}

function leftOutIn({ tools }: ModelRequest, body: Refused["body"]): Pick<ModelTurn, "leftOutTools"> {
  const offered = body.tools ?? [];
  if (offered.length === tools.length) return {};
  const names = new Set(offered.map(toolName));
  return { leftOutTools: tools.map(({ name }) => name).filter((name) => !names.has(name)) };
}

function refusedBy(
  error: unknown,
  { body, connection: { profile, way } }: { body: Refused["body"]; connection: Connection },
): Refused | null {
  if (!(error instanceof ErrorAnswer)) return null;
  const refusal = readRefusal(error.status, error.body);
  const places = refusal.places.map((place) => ({ ...place, path: way.place(place.path) }));
  return { refusal: { ...refusal, places }, body, profile };
}

async function streamOnce(
  { name: provider, exchange, odd }: Connection,
  {
    body,
    messages,
    model,
    quirks,
  }: { body: Refused["body"]; messages: ModelRequest["messages"]; model: string; quirks: Quirks },
  { request, wrote, signal }: Asked,
) {
  const sent: SentRequest = { messages, isRefused: false, arrived: null };
  request.sent?.(sent);
  const { traceparent } = request;
  const offered = body.tools?.map(toolName) ?? [];
  const noted = (oddity: Oddity) => odd({ provider, model, oddity });
  return exchange(body, { signal, traceparent }, { wrote, quirks, sent, offered, odd: noted });
}
