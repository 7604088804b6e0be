import { isRecord } from "../../is-record.ts";
import type { Platform } from "../platform.ts";
import { asAdapter, faultOfAdapter, fieldsOf } from "../platform.ts";
import { words } from "./asked.ts";

const API = "https://graph.facebook.com";
const VERSION = "v21.0";
/** The user has not written for 24 hours: only templates are taken then. */
const OUT_OF_WINDOW = 131_047;

/** The Cloud API of WhatsApp. Nothing can be edited, and nothing read. */
export const whatsapp: Platform = {
  type: "whatsapp",
  packageName: "@chat-adapter/whatsapp",

  async load(settings, logger) {
    const { createWhatsAppAdapter } = await import("@chat-adapter/whatsapp");
    return asAdapter(createWhatsAppAdapter({ ...settings, logger }));
  },

  // Of 4,096: the adapter posts a longer one as several, of which some may be lost alone.
  mostChars: 3_900,
  lengthOf: (text) => text.length,
  editMs: () => null,
  typingMs: 20_000,
  readBack: null,

  faultOf(error) {
    const { status, errorCode } = fieldsOf(error);
    if (errorCode === OUT_OF_WINDOW)
      return {
        type: "refused",
        why: "the user has not written for 24 hours, and WhatsApp takes no answer then",
      };
    const fault = faultOfAdapter(error);
    // It answered: so it was not done.
    return fault.type === "unknown" && typeof status === "number" ? { type: "failed" } : fault;
  },

  async check({ settings, ask }) {
    const { apiUrl = API, apiVersion = VERSION, phoneNumberId, accessToken } = settings;
    const headers = { authorization: `Bearer ${accessToken}` };
    const asked = await ask(`${apiUrl}/${apiVersion}/${phoneNumberId}?fields=display_phone_number`, {
      headers,
    });
    if ("problem" in asked) return [`WhatsApp cannot be reached: ${asked.problem}`];
    if (asked.status === 401)
      return [
        `WhatsApp does not take the accessToken: ${words(asked.body)}. Make one of a system user, which does not end`,
      ];
    if (asked.status !== 200)
      return [`WhatsApp does not show the phoneNumberId (${asked.status}): ${words(asked.body)}`];
    return isRecord(asked.body) && "display_phone_number" in asked.body
      ? []
      : ["The phoneNumberId is no phone number: copy the Phone number ID, and not the account's"];
  },
};
