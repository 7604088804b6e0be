import { readFileSync } from "node:fs";
import { InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import type { AgentSettings } from "../../domain/channels/channel.ts";
import {
  agentSchema,
  complaint,
  daysSchema,
  originFrom,
  slugSchema,
  splitAgent,
} from "../../domain/channels/channel-fields.ts";
import { messageOf } from "../../errors.ts";
import type { Command } from "../command/command.ts";

/** The fields of a channel, as options of `create` and `update`. */
export interface FieldOptions {
  kind?: "web" | "transport";
  origin?: string[];
  addOrigin?: string[];
  removeOrigin?: string[];
  accessMode?: "open" | "whitelist";
  instructions?: string;
  model?: string;
  agent?: AgentSettings;
  threadsDays?: number | "never";
  anonymousDays?: number | "never";
  publishableKey?: string;
  secretKey?: string;
  webhooks?: Record<string, unknown>[];
}

export const FIELDS: NonNullable<Command["options"]> = [
  new Option("--kind <kind>", "how it is used").choices(["web", "transport"]),
  ["--origin <origin>", "all allowed origins, scheme://host[:port]; repeatable", collectOrigin],
  new Option("--access-mode <mode>", "who may talk").choices(["open", "whitelist"]),
  ["--instructions <text>", "what the agent is told first"],
  ["--model <name>", "the model, instead of OPENAI_MODEL"],
  ["--agent <file>", "JSON file with all of the agent's settings", readAgent],
  ["--webhooks <file>", "JSON file with a list of all the channel's webhooks", readWebhooks],
  ["--threads-days <days>", "delete threads without a message for so long; never: keep them", parseDays],
  [
    "--anonymous-days <days>",
    "delete anonymous users without a valid token and without a younger thread; never: keep them",
    parseDays,
  ],
  ["--publishable-key <key>", "pk_…, instead of a new one"],
  ["--secret-key <key>", "sk_…, instead of a new one"],
];

/** Options that add or remove single origins and leave the others. */
export const ORIGIN_CHANGES: NonNullable<Command["options"]> = [
  ["--add-origin <origin>", "one more allowed origin; repeatable", collectOrigin],
  ["--remove-origin <origin>", "an origin that ends; repeatable", collectOrigin],
];

export function parseSlug(text: string): string {
  const parsed = slugSchema.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError("It takes 1 to 64 of a-z 0-9 - _.");
  return parsed.data;
}

function parseDays(text: string): number | "never" {
  if (text === "never") return text;
  const parsed = daysSchema.safeParse(text.trim() === "" ? Number.NaN : Number(text));
  if (!parsed.success) throw new InvalidArgumentError("It takes a number above 0, or never.");
  return parsed.data;
}

function collectOrigin(text: string, before: string[] = []): string[] {
  const origin = originFrom(text);
  if (origin === null)
    throw new InvalidArgumentError('It takes scheme://host[:port] without a path, never "null".');
  return [...before, origin];
}

/** Checks only that it is a list of objects; their fields are checked with the channel. */
function readWebhooks(path: string): Record<string, unknown>[] {
  const parsed = z.array(z.looseObject({})).safeParse(readJson(path));
  if (!parsed.success) throw new InvalidArgumentError("The file holds no list of webhooks.");
  return parsed.data;
}

function readAgent(path: string): AgentSettings {
  const parsed = agentSchema.safeParse(readJson(path));
  if (!parsed.success) throw new InvalidArgumentError(complaint(parsed.error));
  const { kept, processes } = splitAgent(parsed.data);
  const [first] = Object.keys(processes);
  if (first !== undefined) {
    throw new InvalidArgumentError(`MCP server ${first} is a command: those stand in CHANNELS_FILE alone.`);
  }
  return kept;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // JSON.parse quotes what it read, line ends and secrets included.
    throw new InvalidArgumentError(error instanceof SyntaxError ? "The file is not JSON." : messageOf(error));
  }
}
