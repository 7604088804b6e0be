import { z } from "zod";
import { Secret } from "../secret.ts";

/** `seals`: by the first of the keys; false: what is new is stored as it is, and the keys open what was encrypted before. */
export interface ContentKeys {
  seals: boolean;
  /** 256 bits each, in base64. They wrap the keys of users. */
  keys: { id: string; key: Secret }[];
}

/** The word in front that stops encryption: the keys behind it open what was encrypted. */
const SEALS_NOTHING = "off";

export function contentKeys() {
  return z.string().transform((text, context): ContentKeys => {
    const [first = "", ...others] = text.split(",").map((entry) => entry.trim());
    const seals = first !== SEALS_NOTHING;
    const entries = seals ? [first, ...others] : others;
    const keys = entries.map((entry) => {
      const [, id = "", key = ""] = /^([A-Za-z0-9_-]{1,32}):(.*)$/s.exec(entry) ?? [];
      return { id, key };
    });
    const fault = contentKeysFault(keys);
    if (fault !== null) context.addIssue({ code: "custom", message: fault });
    return { seals, keys: keys.map(({ id, key: secret }) => ({ id, key: new Secret(secret) })) };
  });
}

function contentKeysFault(keys: readonly { id: string; key: string }[]): string | null {
  const takes = "ID:KEY, several separated by commas: an ID of 1 to 32 letters, digits, _ or -";
  if (keys.length === 0 || keys.some(({ id }) => id === "" || id === SEALS_NOTHING)) return takes;
  const ids = new Set(keys.map(({ id }) => id));
  if (ids.size < keys.length) return "each ID once";
  const wrong = keys.find(({ key: text }) => !isKeyOf32Bytes(text));
  return wrong ? `32 bytes in base64 as the KEY of ${wrong.id}: \`openssl rand -base64 32\` makes one` : null;
}

function isKeyOf32Bytes(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text) && Buffer.from(text, "base64").toString("base64") === text;
}
