import { isObject } from "./fields.ts";

/** A flat map that the page sends with every message; the service accepts no other values. */
export type CustomerContext = Record<string, string | number | boolean>;

/** Returns a copy. Throws for a value that the service would refuse. */
export function checkedContext(context: CustomerContext): CustomerContext {
  for (const [name, value] of Object.entries(context)) {
    if (!isFlat(value)) {
      throw new TypeError(`Cannot take context: ${name} is no string, number or boolean`);
    }
  }
  return { ...context };
}

export function isCustomerContext(value: unknown): value is CustomerContext {
  return isObject(value) && Object.values(value).every(isFlat);
}

function isFlat(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
