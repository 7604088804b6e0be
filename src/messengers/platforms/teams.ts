import type { Platform } from "../platform.ts";
import { asAdapter, faultOfAdapter, fieldsOf } from "../platform.ts";
import { words } from "./asked.ts";

const LOGIN = "https://login.microsoftonline.com";

/** The Bot Connector of Teams. A post has no key, and a bot without rights of Microsoft Graph reads nothing. */
export const teams: Platform = {
  type: "teams",
  packageName: "@chat-adapter/teams",

  async load({ appType, ...settings }, logger) {
    const { createTeamsAdapter } = await import("@chat-adapter/teams");
    const { appId = "", appPassword = "", ...more } = settings;
    const kind = appType === "MultiTenant" ? ({ appType } as const) : {};
    return asAdapter(createTeamsAdapter({ appId, appPassword, ...more, ...kind, logger }));
  },

  // Of some 28 KB.
  mostChars: 12_000,
  lengthOf: (text) => text.length,
  // A conversation takes one a second over a longer time.
  editMs: () => 1_500,
  typingMs: 5_000,
  readBack: null,

  faultOf(error) {
    const { message } = fieldsOf(error);
    const text = String(message);
    if (text.startsWith("Resource not found during editMessage")) return { type: "gone" };
    if (text.startsWith("Resource not found"))
      return { type: "refused", why: "Teams does not know the conversation" };
    return faultOfAdapter(error);
  },

  async check({ settings, ask }) {
    const { appId = "", appPassword = "", appTenantId = "botframework.com" } = settings;
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: appId,
      client_secret: appPassword,
      scope: "https://api.botframework.com/.default",
    });
    const asked = await ask(`${LOGIN}/${appTenantId}/oauth2/v2.0/token`, { method: "POST", body });
    if ("problem" in asked) return [`Microsoft cannot be reached: ${asked.problem}`];
    return asked.status === 200
      ? []
      : [`Microsoft gives no token for appId and appPassword: ${words(asked.body) || asked.status}`];
  },
};
