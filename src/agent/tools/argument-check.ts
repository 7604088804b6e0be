import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { cutText } from "../../../machines/line.ts";
import type { PickedSchema } from "./picked-schema.ts";

/** Do these arguments fit the tool's schema? Null: they fit; otherwise what is wrong, for the model. */
export type ArgumentCheck = (schema: PickedSchema, args: Record<string, unknown>) => Promise<string | null>;

// Ajv keeps everything that it has compiled. After this many schemas it is replaced by a new instance.
const MAX_COMPILED = 256;

const REASON_CHARS = 400;

/**
 * Ajv over the safe part of a schema. A schema is compiled when the model first calls its tool, not when a page registers the
 * tool: a catalog costs nothing until a model call was paid for. If a schema does not compile, arguments are not checked here,
 * only by the tool itself.
 */
export function createArgumentCheck(): ArgumentCheck {
  let ajv: Ajv | null = null;
  let compiled = new Map<string, ValidateFunction | null>();

  async function compile(schema: PickedSchema): Promise<ValidateFunction | null> {
    // Loaded at the first tool call: a service without tools never loads it.
    const { Ajv } = await import("ajv");
    // Nothing below awaits: the calls of a turn are checked in one tick, and share one Ajv and its compiled schemas.
    const known = compiled.get(schema.json);
    if (known !== undefined) return known;
    if (compiled.size >= MAX_COMPILED) {
      ajv = null;
      compiled = new Map();
    }
    ajv ??= new Ajv({ strict: false, validateFormats: false, logger: false });
    const validate = compileOrNull(ajv, schema);
    compiled.set(schema.json, validate);
    return validate;
  }

  return async (schema, args) => {
    const validate = await compile(schema);
    if (!validate || fits(validate, args)) return null;
    const [error] = validate.errors ?? [];
    return error ? cutText(misfit(error), REASON_CHARS) : "the arguments do not fit the schema";
  };
}

function compileOrNull(ajv: Ajv, schema: PickedSchema): ValidateFunction | null {
  try {
    return ajv.compile(schema.keywords);
  } catch {
    return null;
  }
}

function fits(validate: ValidateFunction, args: Record<string, unknown>): boolean {
  try {
    return validate(args);
  } catch {
    // Comparing with `enum` or `const` calls `valueOf` of the model's value, which may be anything.
    return true;
  }
}

function misfit(error: ErrorObject): string {
  const where = `arguments${error.instancePath.replaceAll("/", ".")}`;
  const { additionalProperty, allowedValues }: Record<string, unknown> = error.params;
  if (additionalProperty !== undefined) {
    return `${where} must not have the property ${JSON.stringify(additionalProperty)}`;
  }
  if (allowedValues !== undefined) return `${where} must be one of ${JSON.stringify(allowedValues)}`;
  return `${where} ${error.message ?? "does not fit the schema"}`;
}
