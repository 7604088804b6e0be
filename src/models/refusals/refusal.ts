import { isRecord } from "../../is-record.ts";

/**
 * What is read of a refusal: the fields that a server fills itself. Nothing else of the body is read: other fields may
 * quote what a model or a visitor wrote (Groq's `failed_generation`, FastAPI's `input`, OpenRouter's `metadata.raw`).
 */
export interface Refusal {
  status: number;
  /** The server's sentence, or the whole body if it is no JSON; empty: none. */
  message: string;
  /** `code`, `type`, `status` and `reason`, in lower case. */
  codes: readonly string[];
  /** The places of the request that it names. */
  places: readonly Place[];
  /** llama.cpp's `n_ctx` and `n_prompt_tokens`; null: not told. */
  limit: number | null;
  counted: number | null;
}

/** A place in a request. */
export interface Place {
  /** Names and indexes from the request's top: `["messages", 2, "content"]`. */
  path: readonly (string | number)[];
  /** The server's code for what is wrong there, in lower case; empty: none. */
  kind: string;
}

/** Longer sentences are no sentences of a server. */
const MAX_MESSAGE_CHARS = 8_000;
const MAX_PLACES = 200;
const MAX_DEPTH = 32;
const CODE = /^[\w.-]{1,64}$/;

/** Reads a body with an error status: JSON, or text. */
export function readRefusal(status: number, body: string): Refusal {
  return refusalOf(status, parsed(body) ?? body);
}

/** The same of an error that is already parsed, for example inside a stream. */
export function refusalOf(status: number, body: unknown): Refusal {
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  if (!isRecord(whole)) return { ...NOTHING, status, message: sentence(whole) };
  // xAI, Ollama and LM Studio have a text in `error`, vLLM and Mistral nothing around it.
  const error = isRecord(whole["error"]) ? whole["error"] : whole;
  const { message, param, code, type, details, innererror } = error;
  const detail =
    listIn(error["detail"]) ?? listIn(whole["detail"]) ?? listIn(fieldsOf(message)["detail"]) ?? [];
  const reasons = (listIn(details) ?? []).map((each) => fieldsOf(each)["reason"]);
  const codes = [code, type, error["status"], fieldsOf(innererror)["code"], ...reasons].flatMap(codeOf);
  const places = [
    ...(typeof param === "string" ? [{ path: pathOf(param), kind: codeOf(code)[0] ?? "" }] : []),
    ...detail.slice(0, MAX_PLACES).flatMap(ofPydantic),
    ...(listIn(details) ?? []).flatMap(ofGoogle).slice(0, MAX_PLACES),
  ];
  return {
    status,
    message: sentence(message) || sentence(whole["error"]) || sentence(whole["detail"]),
    codes,
    places: places.filter(({ path }) => path.length > 0 && path.length <= MAX_DEPTH),
    limit: countIn(error["n_ctx"]),
    counted: countIn(error["n_prompt_tokens"]),
  };
}

const NOTHING = { message: "", codes: [], places: [], limit: null, counted: null };

/** FastAPI: `loc` begins with `body`. */
function ofPydantic(value: unknown): Place[] {
  const { loc, type } = fieldsOf(value);
  if (!Array.isArray(loc) || loc[0] !== "body") return [];
  const path = loc.slice(1).filter((part) => typeof part === "string" || typeof part === "number");
  return [{ path, kind: codeOf(type)[0] ?? "" }];
}

/** google.rpc.BadRequest. A keyword of a schema that it does not know is only in the sentence. */
function ofGoogle(value: unknown): Place[] {
  return (listIn(fieldsOf(value)["fieldViolations"]) ?? []).flatMap((violation) => {
    const { field, description } = fieldsOf(violation);
    if (typeof field !== "string") return [];
    const isKeyword = typeof description === "string" && description.includes("Unknown name");
    return [{ path: pathOf(field), kind: isKeyword ? "unknown_name" : "invalid" }];
  });
}

/** `tools[3].function.parameters`, `messages.2.role`, `messages.[2].content`. */
export function pathOf(written: string): (string | number)[] {
  const parts = written.slice(0, 1_000).split(/[.[\]]+/);
  return parts.filter((part) => part !== "").map((part) => (/^\d{1,6}$/.test(part) ? Number(part) : part));
}

function codeOf(value: unknown): string[] {
  return typeof value === "string" && CODE.test(value) ? [value.toLowerCase()] : [];
}

function countIn(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

function sentence(value: unknown): string {
  return typeof value === "string" && value.length <= MAX_MESSAGE_CHARS ? value.trim() : "";
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function listIn(value: unknown): unknown[] | null {
  return Array.isArray(value) ? (value as unknown[]) : null;
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
