import { cutText } from "../../../machines/line.ts";
import type { Usage } from "../../../machines/run.ts";
import { ModelFault, TURN_TEXT_CHARS } from "../../model.ts";
import type { Extra, ModelCall, SentRequest, Wrote } from "../../model.ts";
import { brokeOff, cutOff, forGood } from "../faults.ts";
import { isRecord } from "../../is-record.ts";
import { extraChars, isTooMuchExtra } from "../reply/extra.ts";
import type { ReadTurn } from "../reply/read-turn.ts";
import { PACKAGE_PARTS } from "../way.ts";
import type { Fields, ProviderOptions } from "./language-model.ts";

/** The reasons of the AI SDK in the words of a chat completion. */
const ENDS: Readonly<Record<string, string>> = {
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

/** What a part brought besides text and arguments. */
interface KeptPart {
  type: "reasoning" | "text" | "tool-call";
  /** Of a thought. */
  text?: string;
  toolCallId?: string;
  providerOptions?: ProviderOptions;
}

export interface PartsReading {
  wrote: Wrote;
  sent: SentRequest;
  /** Nothing more is passed on once it is aborted. */
  signal: AbortSignal;
  /** Each part that arrives. */
  heard: () => void;
  /** Settings that the provider does not apply. */
  warned: (warnings: readonly unknown[]) => void;
}

/**
 * Reads the parts of a streamed answer to its end. Rejects with a ModelFault (a PassingFault only if no text was passed
 * on), with what the stream failed with, or with the error that `wrote` threw.
 */
export async function readParts(
  stream: ReadableStream<unknown>,
  { wrote, sent, signal, heard, warned }: PartsReading,
): Promise<ReadTurn> {
  const turn = createTurn();
  /** When text was first passed on; null: none was. */
  let firstTextAtMs: number | null = null;
  sent.arrived = () => ({ usage: turn.usage, isFinished: turn.isFinished, bytes: turn.bytes, firstTextAtMs });

  async function pass(): Promise<void> {
    const text = turn.takeText();
    if (text === "") return;
    firstTextAtMs ??= performance.now();
    await wrote(text);
  }

  /** After text that was passed on no other try can follow. */
  function failure(error: unknown): unknown {
    if (firstTextAtMs === null) return error;
    return forGood(error instanceof ModelFault ? error : cutOff(error));
  }

  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw failure(error);
      });
      if (done) break;
      signal.throwIfAborted();
      heard();
      if (!isRecord(value)) continue;
      if (value["type"] === "error") throw failure(errorIn(value["error"]));
      if (value["type"] === "stream-start" && Array.isArray(value["warnings"])) warned(value["warnings"]);
      turn.add(value);
      await pass();
    }
    if (!turn.isFinished) throw failure(cutOff());
    if (turn.hasFailed) throw failure(brokeOff({ finish_reason: "error" }));
    return turn.end();
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** What a stream fails with in the middle may be the provider's own error, which has a status, or an event of its server. */
function errorIn(error: unknown): unknown {
  return error instanceof Error ? error : brokeOff(error);
}

function createTurn() {
  const parts = new Map<unknown, KeptPart>();
  const order: KeptPart[] = [];
  const calls = new Map<string, ModelCall>();
  let text = "";
  let pending = "";
  let half = "";
  let bytes = 0;
  let chars = 0;
  let usage: Usage | null = null;
  let end: string | null = null;
  let isFinished = false;

  function partOf(key: unknown, type: KeptPart["type"]): KeptPart {
    const known = parts.get(key);
    if (known) return known;
    const part: KeptPart = { type, ...(type === "reasoning" ? { text: "" } : {}) };
    parts.set(key, part);
    order.push(part);
    return part;
  }

  function keep(part: KeptPart, { providerMetadata }: Fields): void {
    if (!isRecord(providerMetadata)) return;
    chars += extraChars(providerMetadata);
    const options: ProviderOptions = { ...part.providerOptions };
    for (const [name, fields] of Object.entries(providerMetadata))
      if (isRecord(fields)) options[name] = { ...options[name], ...fields };
    part.providerOptions = options;
  }

  return {
    get usage() {
      return usage;
    },
    get isFinished() {
      return isFinished;
    },
    get bytes() {
      return bytes;
    },
    get hasFailed() {
      return end === "error";
    },

    /** Text that can be passed on: never half of a surrogate pair. */
    takeText(): string {
      const all = half + pending;
      const last = all.charCodeAt(all.length - 1);
      const isHalf = last >= 0xd800 && last <= 0xdbff && !isFinished;
      half = isHalf ? all.slice(-1) : "";
      pending = "";
      const passed = (isHalf ? all.slice(0, -1) : all).toWellFormed();
      if (text.length < TURN_TEXT_CHARS) text += passed;
      return passed;
    },

    add(part: Fields): void {
      const { type, id } = part;
      switch (type) {
        case "text-start":
        case "text-end":
          return keep(partOf(`text ${String(id)}`, "text"), part);
        case "text-delta": {
          const delta = textOf(part["delta"]);
          pending += delta;
          bytes += Buffer.byteLength(delta);
          return keep(partOf(`text ${String(id)}`, "text"), part);
        }
        case "reasoning-start":
        case "reasoning-end":
          return keep(partOf(`reasoning ${String(id)}`, "reasoning"), part);
        case "reasoning-delta": {
          const thought = partOf(`reasoning ${String(id)}`, "reasoning");
          const delta = textOf(part["delta"]);
          thought.text += delta;
          chars += delta.length;
          bytes += Buffer.byteLength(delta);
          return keep(thought, part);
        }
        case "tool-call": {
          const callId = textOf(part["toolCallId"]);
          // What the provider runs itself is no call of ours.
          if (part["providerExecuted"] === true || callId === "") return;
          const { input } = part;
          const args = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
          const name = textOf(part["toolName"]);
          bytes += Buffer.byteLength(name) + Buffer.byteLength(args);
          calls.set(callId, { callId, name, arguments: args });
          const kept = partOf(`call ${callId}`, "tool-call");
          kept.toolCallId = callId;
          return keep(kept, part);
        }
        case "finish": {
          const reason = part["finishReason"];
          const word = textOf(isRecord(reason) ? reason["unified"] : reason);
          isFinished = true;
          end = ENDS[word] ?? (word === "other" || word === "unknown" || word === "" ? null : word);
          usage = usageIn(part["usage"]) ?? usage;
          return;
        }
        default:
      }
    },

    end(): ReadTurn {
      // Text without options of its own says nothing that the turn does not say.
      const isWorthKeeping = order.some(
        ({ type, providerOptions }) => type === "reasoning" || providerOptions !== undefined,
      );
      const extra: Extra | null =
        isWorthKeeping && !isTooMuchExtra(chars) ? { [PACKAGE_PARTS]: order } : null;
      return {
        text: cutText(text, TURN_TEXT_CHARS),
        calls: [...calls.values()],
        usage,
        finishReason: end,
        ...(extra === null ? {} : { extra }),
      };
    },
  };
}

/** `inputTokens`, a number or, since the third version, an object with a total. */
function usageIn(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const [input, output] = [value["inputTokens"], value["outputTokens"]].map((count) =>
    isRecord(count) ? count["total"] : count,
  );
  return typeof input === "number" && typeof output === "number" ? { input, output } : null;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
