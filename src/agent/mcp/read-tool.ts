import { isRecord } from "../../is-record.ts";
import { cutText } from "../../../machines/line.ts";
import { PickedSchema } from "../tools/picked-schema.ts";
import type { ServerTool } from "../tools/tools.ts";
import { mendedSchema } from "./mended-schema.ts";

/** Longer than any description that helps a model, which reads it in every turn. */
const DESCRIPTION_CHARS = 4_096;
const DESCRIPTION_CUT = "\n[cut: the rest of this description is not shown]";
/** A name goes into every call, and into the names of steps; the protocol asks for 128 at most (MCP 2025-11-25, Tool Names). */
const NAME_CHARS = 256;
const TITLE_CHARS = 200;

/** What is wrong with a tool of a list, for the operator. */
export interface OddTool {
  /** null: it has none that can be told. */
  name: string | null;
  /** Every reason, in words of ours. */
  reasons: string[];
  /** True: it is not offered. False: it was mended. */
  isLeftOut: boolean;
}

export interface ReadTool {
  tool: ServerTool | null;
  odd: OddTool | null;
  /** Of its description and its schema, as they are offered. */
  chars: number;
}

/** One tool of `tools/list`, by itself: what is wrong with it costs no other tool. */
export function readTool(server: string, untrusted: unknown): ReadTool {
  if (!isRecord(untrusted)) return leftOut(null, "it is no object");
  const { name, title, description, execution } = untrusted;
  if (typeof name !== "string" || name === "") return leftOut(null, "it has no name");
  if (name.length > NAME_CHARS) return leftOut(name, `its name is longer than ${NAME_CHARS} characters`);
  // It cannot be called and answered in one request.
  if (isRecord(execution) && execution["taskSupport"] === "required") {
    return leftOut(name, "it runs as a task alone, which this service does not support");
  }
  const schema = mendedSchema(untrusted["inputSchema"]);
  if (!schema.fits) return leftOut(name, schema.reason);

  const reasons = [...schema.mends];
  const text = typeof description === "string" ? description : "";
  if (typeof description !== "string" && description !== undefined && description !== null) {
    reasons.push("its description is no text");
  }
  if (text.length > DESCRIPTION_CHARS) {
    reasons.push(`its description has ${text.length} characters, of which ${DESCRIPTION_CHARS} are shown`);
  }
  const hints = isRecord(untrusted["annotations"]) ? untrusted["annotations"] : {};
  const shownTitle = [title, hints["title"]].find((one) => typeof one === "string" && one !== "");
  const shown = cutDescription(text);
  return {
    chars: shown.length + JSON.stringify(schema.schema).length,
    tool: {
      server,
      name,
      title: typeof shownTitle === "string" ? cutText(shownTitle, TITLE_CHARS) : null,
      description: shown,
      inputSchema: schema.schema,
      picked: new PickedSchema(schema.schema),
      // What is no boolean may mean either: destructive is the careful reading, and so is not repeatable.
      destructive: ![undefined, null, false].includes(hints["destructiveHint"] as boolean),
      readOnly: hints["readOnlyHint"] === true,
      repeatable: hints["readOnlyHint"] === true || hints["idempotentHint"] === true,
    },
    odd: reasons.length === 0 ? null : { name, reasons, isLeftOut: false },
  };
}

export function leftOut(name: string | null, reason: string): ReadTool {
  return { tool: null, odd: { name, reasons: [reason], isLeftOut: true }, chars: 0 };
}

function cutDescription(text: string): string {
  if (text.length <= DESCRIPTION_CHARS) return text;
  return cutText(text, DESCRIPTION_CHARS - DESCRIPTION_CUT.length) + DESCRIPTION_CUT;
}
