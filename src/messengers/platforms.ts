import type { MessengerType } from "../domain/channels/messenger.ts";
import type { Platform } from "./platform.ts";
import { discord } from "./platforms/discord.ts";
import { slack } from "./platforms/slack.ts";
import { teams } from "./platforms/teams.ts";
import { telegram } from "./platforms/telegram.ts";
import { whatsapp } from "./platforms/whatsapp.ts";

const PLATFORMS: Readonly<Record<MessengerType, Platform>> = { telegram, slack, whatsapp, discord, teams };

export function platformOf(type: MessengerType): Platform {
  return PLATFORMS[type];
}
