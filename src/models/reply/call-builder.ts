import { newId } from "../../domain/ids.ts";
import type { ModelCall } from "../../model.ts";
import type { CallPart } from "./completion-chunk.ts";
import { joinExtra } from "./extra.ts";

/** More than the agent takes: a call that grows longer is refused there, and is not collected any further here. */
const MAX_ARGUMENTS_CHARS = 131_072;
/** More calls than the agent makes. */
const MAX_CALLS = 512;
/** Of all parts of a turn. */
const MAX_CHARS = 8_388_608;

/**
 * Puts the calls of a turn together from their parts. The API sends id and name with a call's first part and numbers the
 * calls; servers differ in each of the three. Known:
 * - all calls have number 0, or none (Gemini); ids are empty, or missing;
 * - an id comes late, or each part has another one: https://github.com/poolsideai/pool/issues/9,
 *   https://github.com/cubist38/mlx-openai-server/pull/216, https://github.com/vllm-project/vllm/pull/23522
 * - each part repeats the name, or the last one repeats all of the call: https://github.com/vllm-project/vllm/pull/31438
 * - an empty object comes before the arguments: https://github.com/BerriAI/litellm/issues/4537,
 *   https://github.com/microsoft/autogen/issues/6843
 * - the name comes in pieces.
 */
export class CallBuilder {
  /** In the model's order; those that have no name yet too. */
  readonly #calls: OpenCall[] = [];
  readonly #ids = new Set<string>();
  #chars = 0;
  readonly #isOffered: (name: string) => boolean;
  readonly #beginsOffered: (beginning: string) => boolean;

  /** `offered`: the tools' names, which tell a name in pieces from two names. */
  constructor(offered: readonly string[]) {
    this.#isOffered = (name) => offered.includes(name);
    this.#beginsOffered = (beginning) => offered.some((name) => name.startsWith(beginning));
  }

  /** Calls without a name are none: nobody can tell which tool is meant. */
  get calls(): ModelCall[] {
    return this.#calls.filter(({ call }) => call.name !== "").map(({ call }) => call);
  }

  /** One was left out. */
  get hasNameless(): boolean {
    return this.#calls.some(({ call }) => call.name === "");
  }

  /** The parts of one chunk. Throws if all calls together grow longer than any turn. */
  add(parts: readonly CallPart[]): void {
    const known = this.#calls.length;
    for (const part of parts) {
      this.#chars += part.arguments.length + part.name.length;
      if (this.#chars > MAX_CHARS) throw new Error("Cannot read the calls of an answer: they are too long");
      this.#add(part, known);
    }
  }

  /** `known`: how many calls there were before this chunk. */
  #add(part: CallPart, known: number): void {
    const latest = this.#latestFor(part);
    const isOfThisChunk = latest !== null && this.#calls.indexOf(latest) >= known;
    if (latest !== null && !this.#isAnother(latest, part, isOfThisChunk)) this.#continue(latest, part);
    else if (this.#calls.length < MAX_CALLS) this.#begin(part);
  }

  /**
   * The call that a part continues if it begins no other: the latest of its number, unless its id names another of them.
   * What nobody's number has continues a call that lacks its arguments.
   */
  #latestFor({ index, id, name }: CallPart): OpenCall | null {
    const ofIndex = (open: OpenCall): boolean => index === null || open.index === index;
    const latest = this.#calls.findLast(ofIndex);
    if (latest && (id === "" || latest.id === id)) return latest;
    if (latest) return this.#calls.findLast((open) => open.id === id && ofIndex(open)) ?? latest;
    const last = this.#calls.at(-1);
    return last && name === "" && isBlank(last.call.arguments) ? last : null;
  }

  /** Does this part begin a new call? */
  #isAnother(
    { call, id: latestId }: OpenCall,
    { id, name, arguments: args }: CallPart,
    isOfThisChunk: boolean,
  ) {
    // Whatever its id: without a name it is no call.
    if (name === "" || call.name === "") return false;
    const isSameId = id !== "" && id === latestId;
    const isOtherId = id !== "" && latestId !== "" && id !== latestId;
    if (isOfThisChunk) return !isSameId || isWholeObject(call.arguments);
    if (isSameId) return false;
    if (name !== call.name) return !this.#isNamePiece(call.name, name);
    if (isBlank(call.arguments)) return isOtherId && isBlank(args);
    // Not whole: no call could be made of it, so this is its next part.
    if (!isWholeObject(call.arguments)) return false;
    return isOtherId || (!isBlank(args) && !isEmptyObject(call.arguments));
  }

  #isNamePiece(name: string, piece: string): boolean {
    return !this.#isOffered(name) && this.#beginsOffered(name + piece);
  }

  #begin({ index, id, name, arguments: args, extra }: CallPart): void {
    // Results are matched to calls by id, so each id must be unique.
    const callId = id === "" || this.#ids.has(id) ? `call_${newId()}` : id;
    this.#ids.add(callId);
    const call: ModelCall = { callId, name, arguments: args, ...(extra === null ? {} : { extra }) };
    this.#calls.push({ call, id, index: index ?? 0 });
  }

  #continue(open: OpenCall, { id, name, arguments: args, extra }: CallPart): void {
    const { call } = open;
    if (open.id === "") open.id = id;
    if (call.name === "" || this.#isNamePiece(call.name, name)) call.name += name;
    if (call.arguments.length <= MAX_ARGUMENTS_CHARS) call.arguments = joinArguments(call.arguments, args);
    const joined = joinExtra(call.extra ?? null, extra);
    if (joined !== null) call.extra = joined;
  }
}

interface OpenCall {
  call: ModelCall;
  /** The server's id, the first that it sent; empty: none so far. */
  id: string;
  /** Its number; 0 where the server has none. */
  index: number;
}

/**
 * Arguments and their next piece. After a whole object another one can only be there instead: an object that was opened
 * empty, or one that is repeated. A piece within an object begins with a brace, too, but there the object is not whole.
 */
function joinArguments(sum: string, piece: string): string {
  const isObject = piece.trimStart().startsWith("{");
  return isObject && isWholeObject(sum) ? piece : sum + piece;
}

function isWholeObject(args: string): boolean {
  if (!args.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}

const isBlank = (args: string): boolean => args.trim() === "";
const isEmptyObject = (args: string): boolean => args.replaceAll(/\s/g, "") === "{}";
