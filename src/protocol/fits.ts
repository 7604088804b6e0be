import { FEED_LINES, LINES } from "./required.ts";
import type { FeedLine } from "./feed.ts";
import type { Line } from "./lines.ts";

/**
 * The small checks of what arrives, for browsers, which have no zod, and between instances: has a value all that is
 * required of it? `required.ts` is made of the schemas. Further fields, and lines of unknown types, are a newer version's.
 *
 * A text: what `typeof` says of the value; a list: the value is one of these texts, or fits one of these objects; an
 * object: its fields are such.
 */
type Required = string | RequiredFields | readonly (string | RequiredFields)[];
interface RequiredFields {
  readonly [name: string]: Required;
}

type Check<T> = (value: unknown) => value is T;

/** Made once of what is required: a check that asks for names anew takes three times as long. */
function fitting(required: Required): (value: unknown) => boolean {
  if (typeof required === "string") return (value) => typeof value === required && value !== null;
  if (isList(required)) {
    const checks = required.map((one) =>
      typeof one === "string" ? (value: unknown) => value === one : fitting(one),
    );
    return (value) => checks.some((fits) => fits(value));
  }
  const fields = Object.entries(required).map(([name, each]) => [name, fitting(each)] as const);
  // A cast: any value but null and undefined may be asked for a field.
  return (value) =>
    value != null && fields.every(([name, fits]) => fits((value as Record<string, unknown>)[name]));
}

function isList(required: Required): required is readonly (string | RequiredFields)[] {
  return Array.isArray(required);
}

/** False for a line of an unknown type, too. */
export const isLine = fitting(LINES) as Check<Line>;
/** False for a line of an unknown type, too. Pure: the script that reads no feed leaves it out. */
export const isFeedLine = /* @__PURE__ */ fitting(FEED_LINES) as Check<FeedLine>;
