import { LINES, STEP } from "./required.ts";
import type { Line, Step } from "./lines.ts";

/**
 * The small checks of what arrives, for browsers, which have no zod, and between instances: has a value all that is
 * required of it? `required.ts` is made of the schemas. Further fields, and lines of unknown types, are a newer version's.
 *
 * A text: what `typeof` says of the value; a list: the value is one of these; an object: its fields are such.
 */
type Required = string | readonly string[] | { readonly [name: string]: Required };

type Check = (value: unknown) => boolean;

/** Made once of what is required: a check that asks for names anew takes three times as long. */
function checkFor(required: Required): Check {
  if (typeof required === "string") return (value) => typeof value === required && value !== null;
  if (isList(required)) return (value) => required.some((one) => one === value);
  const fields = Object.entries(required).map(([name, each]) => [name, checkFor(each)] as const);
  const isObject = checkFor("object");
  // A cast: any object may be asked for a field.
  return (value) =>
    isObject(value) && fields.every(([name, fits]) => fits((value as Record<string, unknown>)[name]));
}

function isList(required: Required): required is readonly string[] {
  return Array.isArray(required);
}

const lines = LINES.map(checkFor);

/** False for a line of an unknown type, too. */
export function isLine(value: unknown): value is Line {
  return lines.some((fits) => fits(value));
}

export const isStep = checkFor(STEP) as (value: unknown) => value is Step;
