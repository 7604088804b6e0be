import type { ScriptedPlatform } from "./scripted-platform.ts";
import { startDiscord } from "./platforms/discord.ts";
import { startSlack } from "./platforms/slack.ts";
import { startTeams } from "./platforms/teams.ts";
import { startTelegram } from "./platforms/telegram.ts";
import { startWhatsApp } from "./platforms/whatsapp.ts";

/** What differs between the platforms, as their suites need it. */
export interface PlatformCase {
  name: string;
  start: () => Promise<ScriptedPlatform>;
  /** A user's chat with the bot. */
  direct(user: string): string;
  /** A group's; null: it has none that a bot is in. */
  group: string | null;
  edits: boolean;
  /** Does a post whose answer was lost come once? */
  readsBack: boolean;
  /** Makes a signed request one that is not. */
  unsigned(headers: Record<string, string>): Record<string, string>;
}

const without = (name: string) => (headers: Record<string, string>) => ({ ...headers, [name]: "wrong" });

export const PLATFORMS: readonly PlatformCase[] = [
  {
    name: "telegram",
    start: startTelegram,
    direct: (user) => user,
    group: "-500",
    edits: true,
    readsBack: false,
    unsigned: without("x-telegram-bot-api-secret-token"),
  },
  {
    name: "slack",
    start: startSlack,
    direct: (user) => `D${user}`,
    group: "C500",
    edits: true,
    readsBack: true,
    unsigned: without("x-slack-signature"),
  },
  {
    name: "whatsapp",
    start: startWhatsApp,
    direct: (user) => user,
    group: null,
    edits: false,
    readsBack: false,
    unsigned: without("x-hub-signature-256"),
  },
  {
    name: "discord",
    start: startDiscord,
    direct: (user) => user,
    group: "500",
    edits: true,
    readsBack: true,
    unsigned: without("x-discord-gateway-token"),
  },
  {
    name: "teams",
    start: startTeams,
    // As long as those of personal chats are.
    direct: (user) => `a:1${"xY3-_9".repeat(30)}${user}`,
    group: "19:500@thread.v2",
    edits: true,
    readsBack: false,
    unsigned: without("authorization"),
  },
];
